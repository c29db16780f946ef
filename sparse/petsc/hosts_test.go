//go:build petsc && cgo && linux

package petsc

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

type host struct{ name, link, address string }

var hosts = []host{{"heatwalk-a", "heatwalk-a0", "10.77.0.1"}, {"heatwalk-b", "heatwalk-b0", "10.77.0.2"}}

// TestHosts runs jobs on two hosts, each a network namespace with a host name of its own. It needs root and the program
// ip.
func TestHosts(t *testing.T) {
	if os.Getenv("HEATWALK_HOSTS") == "" {
		t.Skip("set HEATWALK_HOSTS=1 to run jobs on two network namespaces, as root")
	}
	connect(t)
	t.Run("bytes", countBytes)
	t.Run("killed", func(t *testing.T) { failOnOtherHost(t, "killed", 137, "exited on signal 9 (Killed)") })
	t.Run("hangs", func(t *testing.T) {
		failOnOtherHost(t, "hangs", 1, "process 0 of 2: waited 2s for the other processes", timeoutVariable+"=2s")
	})
	t.Run("link", cutLink)
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %v: %v\n%s", args, err, out)
	}
}

func connect(t *testing.T) {
	for _, h := range hosts {
		_ = exec.Command("ip", "netns", "del", h.name).Run() // a killed test may have left the host
		ip(t, "netns", "add", h.name)
		t.Cleanup(func() { removeHost(t, h) })
	}
	ip(t, "-n", hosts[0].name, "link", "add", hosts[0].link, "type", "veth", "peer", "name", hosts[1].link, "netns", hosts[1].name)
	for _, h := range hosts {
		ip(t, "-n", h.name, "addr", "add", h.address+"/24", "dev", h.link)
		ip(t, "-n", h.name, "link", "set", "lo", "up")
		ip(t, "-n", h.name, "link", "set", h.link, "up")
	}
}

// removeHost also ends the processes of a host, such as the daemon of a job whose link was cut.
func removeHost(t *testing.T, h host) {
	pids, err := exec.Command("ip", "netns", "pids", h.name).Output()
	if err != nil {
		t.Error(err)
	}
	for pid := range strings.FieldsSeq(string(pids)) {
		n, _ := strconv.Atoi(pid)
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
	ip(t, "netns", "del", h.name)
}

// agent is used in place of ssh: agent HOST COMMAND...
const agent = `#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
case $host in
%s) name=%s ;;
%s) name=%s ;;
esac
exec ip netns exec "$name" unshare --uts sh -c "hostname $name; $*"
`

// Without keepalive messages mpirun would wait minutes for a host that cannot be reached.
func onHosts(t *testing.T, scenario string, env ...string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	script := fmt.Sprintf(agent, hosts[0].address, hosts[0].name, hosts[1].address, hosts[1].name)
	if err := os.WriteFile(path, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	words := []string{hosts[0].address, "exec", "mpirun", "-n", "2", "--host", hosts[0].address + ":1," + hosts[1].address + ":1", "--bind-to", "none",
		"--mca", "plm_rsh_agent", path, "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "10.77.0.0/24", "--mca", "oob_tcp_if_include", "10.77.0.0/24",
		"--mca", "oob_tcp_keepalive_time", "2", "--mca", "oob_tcp_keepalive_intvl", "1", "--mca", "oob_tcp_keepalive_probes", "2",
		"--mca", "mpi_yield_when_idle", "1"}
	env = append(env, scenarioVariable+"="+scenario)
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		words = append(words, "-x", name)
	}
	cmd := exec.Command(path, append(words, os.Args[0])...)
	cmd.Env = append(append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"), env...)
	return cmd
}

func sent(t *testing.T) (bytes int64) {
	t.Helper()
	for _, h := range hosts {
		out, err := exec.Command("ip", "netns", "exec", h.name, "cat", "/sys/class/net/"+h.link+"/statistics/tx_bytes").Output()
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		bytes += n
	}
	return bytes
}

var reported = regexp.MustCompile(`process \d has pid (\d+) and (\d+) ghost rows`)

// The bytes on the link are the bytes of the ghost rows. The difference between many and few products leaves out the
// bytes of the start.
func countBytes(t *testing.T) {
	const few, many = 10, 60
	var bytes [2]int64
	ghosts := 0
	for i, number := range []int{few, many} {
		before := sent(t)
		out, err := onHosts(t, "steps", stepsVariable+"="+strconv.Itoa(number)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		bytes[i] = sent(t) - before
		ghosts = 0
		for _, m := range reported.FindAllStringSubmatch(string(out), -1) {
			n, _ := strconv.Atoi(m[2])
			ghosts += n
		}
	}
	got, want := float64(bytes[1]-bytes[0]), float64(ghosts*stepColumns*4*(many-few))
	t.Logf("%d ghost rows, %d columns of float32, %d products: %.0f bytes, %.0f predicted (%+.2f %%)", ghosts, stepColumns, many-few, got, want, 100*(got/want-1))
	if math.Abs(got/want-1) > 0.05 {
		t.Error("the difference exceeds 5 %")
	}
}

func failOnOtherHost(t *testing.T, scenario string, code int, message string, env ...string) {
	begin := time.Now()
	cmd := onHosts(t, scenario, env...)
	out, _ := cmd.CombinedOutput()
	t.Logf("ended %.1f s after its start", time.Since(begin).Seconds())
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), message) {
		t.Errorf("exit code %d, want %d with %q\n%s", got, code, message, out)
	}
}

// mpirun ends because its connection to the other host is gone, and so do its processes; those of the other host end
// with its daemon, or after their longest time of waiting.
func cutLink(t *testing.T) {
	const limit = 8 * time.Second
	cmd := onHosts(t, "steps", stepsVariable+"=1000000000", timeoutVariable+"="+limit.String())
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output // not pipes, which the process on the other host would keep open
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var processes [][]string
	for begin := time.Now(); len(processes) < len(hosts); time.Sleep(100 * time.Millisecond) {
		text, err := os.ReadFile(output.Name())
		if err != nil || time.Since(begin) > time.Minute {
			t.Fatalf("the processes do not start: %v\n%s", err, text)
		}
		processes = reported.FindAllStringSubmatch(string(text), -1)
	}
	ip(t, "-n", hosts[0].name, "link", "set", hosts[0].link, "down")
	cut := time.Now()
	err = cmd.Wait()
	t.Logf("mpirun ended %.1f s after the cut: %v", time.Since(cut).Seconds(), err)
	if err == nil || time.Since(cut) > 2*limit {
		t.Error("mpirun did not end in time with an error")
	}
	for _, p := range processes {
		for isRunning(p[1]) {
			if time.Since(cut) > 2*limit {
				t.Fatalf("process %s still runs", p[1])
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	t.Logf("all processes ended %.1f s after the cut", time.Since(cut).Seconds())
}

func isRunning(pid string) bool {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	return err == nil && !strings.Contains(string(status), "State:\tZ")
}
