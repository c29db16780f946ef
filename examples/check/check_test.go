// Package check decodes the manifests for Kubernetes with the types of Kubernetes, as strictly as its server; run go
// test in this directory. It is a module of its own, because heatwalk needs none of its dependencies.
package check

import (
	"os"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// decode returns an error for every field of a manifest that its type does not have.
func decode[T any](manifest string) (object T, unknown []error, err error) {
	text, err := yaml.YAMLToJSONStrict([]byte(manifest))
	if err == nil {
		unknown, err = json.UnmarshalStrict(text, &object)
	}
	return object, unknown, err
}

// The manifest of each night must have only fields of a CronJob, and a user who may write to the volume.
func TestNightly(t *testing.T) {
	text, err := os.ReadFile("../deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	job, unknown, err := decode[batchv1.CronJob](string(text))
	if err != nil || len(unknown) > 0 {
		t.Fatal(err, unknown)
	}
	pod := job.Spec.JobTemplate.Spec.Template.Spec
	if job.Kind != "CronJob" || job.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent || pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("%s, concurrency %s, restart policy %s", job.Kind, job.Spec.ConcurrencyPolicy, pod.RestartPolicy)
	}
	if user := pod.SecurityContext; *user.RunAsUser != 65532 || *user.FSGroup != 65532 || pod.Containers[0].Command[0] != "/heatwalk" {
		t.Errorf("%s as user %d, group of the volume %d", pod.Containers[0].Command[0], *user.RunAsUser, *user.FSGroup)
	}
	if mount, volume := pod.Containers[0].VolumeMounts[0].Name, pod.Volumes[0].Name; mount != volume {
		t.Errorf("volume %s is mounted as %s", volume, mount)
	}
}
