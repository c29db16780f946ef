// Package check decodes the manifest for Kubernetes with the types of Kubernetes, as strictly as its server;
// run go test in this directory. It is a module of its own, because heatwalk needs none of its dependencies.
package check

import (
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// decode returns the job in a manifest, and an error for every field that a Job does not have.
func decode(manifest string) (job batchv1.Job, unknown []error, err error) {
	text, err := yaml.YAMLToJSONStrict([]byte(manifest))
	if err == nil {
		unknown, err = json.UnmarshalStrict(text, &job)
	}
	return job, unknown, err
}

// The manifest has only fields of a Job, as many completions as shares, and the values that the server
// requires together with a failure policy.
func TestManifest(t *testing.T) {
	text, err := os.ReadFile("../kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	job, unknown, err := decode(string(text))
	if err != nil || len(unknown) > 0 {
		t.Fatal(err, unknown)
	}
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || *job.Spec.CompletionMode != batchv1.IndexedCompletion {
		t.Errorf("not an indexed Job of batch/v1: %s %s", job.APIVersion, job.Kind)
	}
	pod := job.Spec.Template.Spec
	container := pod.Containers[0]
	if env := container.Env; *job.Spec.Completions != 8 || env[1].Name != "SHARES" || env[1].Value != "8" {
		t.Errorf("%d completions, %s=%s", *job.Spec.Completions, env[1].Name, env[1].Value)
	}
	if name := *job.Spec.PodFailurePolicy.Rules[1].OnExitCodes.ContainerName; name != container.Name || pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("failure policy of container %s of %s, restart policy %s", name, container.Name, pod.RestartPolicy)
	}
	if mount, volume := container.VolumeMounts[0].Name, pod.Volumes[0].Name; mount != volume {
		t.Errorf("volume %s is mounted as %s", volume, mount)
	}
	for _, name := range []string{"backofLimitPerIndex", "backofflimitperindex"} {
		if _, unknown, err := decode(strings.Replace(string(text), "backoffLimitPerIndex", name, 1)); err != nil || len(unknown) != 1 {
			t.Errorf("%s is accepted: %v", name, err)
		}
	}
}
