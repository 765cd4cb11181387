package ship

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// cluster is what conf/kubernetes.yaml asks for.
type cluster struct {
	services map[string]*core.Service
	masters  *apps.StatefulSet
	proxies  *apps.Deployment
	budgets  []*policy.PodDisruptionBudget
	networks map[string]*networking.NetworkPolicy
	secrets  map[string]bool // the keys of the one that its head has made
}

// kubernetes reads it into the types of Kubernetes, in which each name must be one.
func kubernetes(t *testing.T) *cluster {
	t.Helper()
	b, err := os.ReadFile("../../conf/kubernetes.yaml")
	must(t, err)
	c, err := readCluster(string(b))
	must(t, err)
	return c
}

func readCluster(text string) (*cluster, error) {
	c := &cluster{services: map[string]*core.Service{}, networks: map[string]*networking.NetworkPolicy{}, secrets: map[string]bool{}}
	for _, key := range regexp.MustCompile(`--from-literal=(\w+)=`).FindAllStringSubmatch(text, -1) {
		c.secrets[key[1]] = true
	}
	for part := range strings.SplitSeq(text, "\n---\n") {
		var kind meta.TypeMeta
		if err := yaml.Unmarshal([]byte(part), &kind); err != nil {
			return nil, err
		}
		made, known := map[string]any{
			"v1 Service": new(core.Service), "apps/v1 StatefulSet": new(apps.StatefulSet), "apps/v1 Deployment": new(apps.Deployment),
			"policy/v1 PodDisruptionBudget": new(policy.PodDisruptionBudget), "networking.k8s.io/v1 NetworkPolicy": new(networking.NetworkPolicy),
		}[kind.APIVersion+" "+kind.Kind]
		if !known {
			return nil, fmt.Errorf("nothing is known of %s %s", kind.APIVersion, kind.Kind)
		}
		if err := yaml.UnmarshalStrict([]byte(part), made); err != nil {
			return nil, fmt.Errorf("%s: %w", kind.Kind, err)
		}
		switch object := made.(type) {
		case *core.Service:
			c.services[object.Name] = object
		case *apps.StatefulSet:
			c.masters = object
		case *apps.Deployment:
			c.proxies = object
		case *policy.PodDisruptionBudget:
			c.budgets = append(c.budgets, object)
		case *networking.NetworkPolicy:
			c.networks[object.Name] = object
		}
	}
	return c, nil
}

func (c *cluster) pods() map[string]core.PodTemplateSpec {
	return map[string]core.PodTemplateSpec{"redis": c.masters.Spec.Template, "redlock-proxy": c.proxies.Spec.Template}
}

func selects(t *testing.T, selector *meta.LabelSelector, pod core.PodTemplateSpec) bool {
	t.Helper()
	s, err := meta.LabelSelectorAsSelector(selector)
	must(t, err)
	return !s.Empty() && s.Matches(labels.Set(pod.Labels))
}

// hasPort tells whether a container has a port of that name, or number.
func hasPort(c core.Container, port intstr.IntOrString) bool {
	return slices.ContainsFunc(c.Ports, func(p core.ContainerPort) bool {
		return port.Type == intstr.String && p.Name == port.StrVal || port.Type == intstr.Int && p.ContainerPort == port.IntVal
	})
}

func TestKubernetesFindsWhatItSelects(t *testing.T) {
	c := kubernetes(t)
	if !selects(t, c.masters.Spec.Selector, c.masters.Spec.Template) || !selects(t, c.proxies.Spec.Selector, c.proxies.Spec.Template) {
		t.Error("what has pods made does not find them")
	}
	budgets := map[string]*meta.LabelSelector{}
	for _, b := range c.budgets {
		budgets[b.Name] = b.Spec.Selector
		if b.Spec.MaxUnavailable.IntValue() != 1 {
			t.Errorf("of %s there may be missing %s", b.Name, b.Spec.MaxUnavailable)
		}
	}
	for name, pod := range c.pods() {
		service, network := c.services[name], c.networks[name]
		if service == nil || network == nil || budgets[name] == nil {
			t.Fatalf("%s has no service, budget or network policy", name)
		}
		if !selects(t, &meta.LabelSelector{MatchLabels: service.Spec.Selector}, pod) || !selects(t, budgets[name], pod) || !selects(t, &network.Spec.PodSelector, pod) {
			t.Errorf("service, budget or network policy of %s are not of its pods", name)
		}
		for _, port := range service.Spec.Ports {
			if !hasPort(pod.Spec.Containers[0], port.TargetPort) {
				t.Errorf("%s has no port %s", name, port.TargetPort.String())
			}
		}
		for _, spread := range pod.Spec.TopologySpreadConstraints {
			if !selects(t, spread.LabelSelector, pod) {
				t.Errorf("%s is spread by others", name)
			}
		}
		for _, in := range network.Spec.Ingress {
			for _, port := range in.Ports {
				if !hasPort(pod.Spec.Containers[0], *port.Port) {
					t.Errorf("others are let in to a port %s that %s does not have", port.Port, name)
				}
			}
		}
	}
	pods := c.pods()
	from, to := c.networks["redis"].Spec.Ingress[0].From, c.networks["redlock-proxy"].Spec.Egress[0].To
	if len(from) != 1 || !selects(t, from[0].PodSelector, pods["redlock-proxy"]) || !selects(t, to[0].PodSelector, pods["redis"]) {
		t.Error("others than proxies reach masters, or proxies do not")
	}
	if rule := c.masters.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution; len(rule) != 1 || !selects(t, rule[0].LabelSelector, pods["redis"]) {
		t.Error("masters may be on one node")
	}
}

func TestKubernetesAsksWhatIsThere(t *testing.T) {
	for name, pod := range kubernetes(t).pods() {
		c := pod.Spec.Containers[0]
		for what, probe := range map[string]*core.Probe{"starts": c.StartupProbe, "lives": c.LivenessProbe, "is ready": c.ReadinessProbe} {
			switch {
			case probe == nil:
				t.Errorf("nobody asks whether %s %s", name, what)
			case probe.HTTPGet != nil && !hasPort(c, probe.HTTPGet.Port), probe.TCPSocket != nil && !hasPort(c, probe.TCPSocket.Port):
				t.Errorf("whether %s %s is asked at a port that it does not have", name, what)
			case name == "redlock-proxy" && (probe.HTTPGet == nil || (probe.HTTPGet.Path == "/readyz") != (what == "is ready")):
				t.Errorf("whether %s %s is asked by %v", name, what, probe.HTTPGet)
			}
		}
	}
}

// The pods are such as the restricted standard for pods lets in.
func TestKubernetesLetsPodsDoNoMoreThanTheyHaveTo(t *testing.T) {
	for name, pod := range kubernetes(t).pods() {
		p, c := pod.Spec.SecurityContext, pod.Spec.Containers[0]
		s := c.SecurityContext
		if !*p.RunAsNonRoot || *p.RunAsUser == 0 || p.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault || *pod.Spec.AutomountServiceAccountToken || *pod.Spec.EnableServiceLinks {
			t.Errorf("a pod of %s may do more than it has to", name)
		}
		if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !slices.Contains(s.Capabilities.Drop, "ALL") || s.Capabilities.Add != nil {
			t.Errorf("the container %s may do more than it has to", name)
		}
		if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().Cmp(*c.Resources.Limits.Memory()) != 0 {
			t.Errorf("%s has no bounds, or is not promised what it may take", name)
		}
	}
}

func TestKubernetesHasDurableMasters(t *testing.T) {
	c := kubernetes(t)
	master := c.masters.Spec.Template.Spec.Containers[0]
	if claim := c.masters.Spec.VolumeClaimTemplates[0]; claim.Name != master.VolumeMounts[0].Name || master.VolumeMounts[0].MountPath != master.WorkingDir {
		t.Error("masters do not write to the disks they have")
	}
	if e := master.Env[0]; e.Name != "REDISCLI_AUTH" || !c.secrets[e.ValueFrom.SecretKeyRef.Key] {
		t.Errorf("nobody has made the masters' password %v", e)
	}
	areDurable(t, append(master.Command, master.Args...), "hunter2")
}

func TestKubernetesTellsProxiesWhatTheyUnderstand(t *testing.T) {
	c := kubernetes(t)
	pod := c.proxies.Spec.Template.Spec
	container, dir := pod.Containers[0], t.TempDir()
	if pod.Volumes[0].Name != container.VolumeMounts[0].Name || c.masters.Spec.Template.Spec.Containers[0].Env[0].ValueFrom.SecretKeyRef.Name != pod.Volumes[0].Secret.SecretName {
		t.Error("proxies and masters are told different passwords")
	}
	must(t, os.Mkdir(filepath.Join(dir, "..data"), 0o700))
	for key := range c.secrets { // as they are mounted
		must(t, os.WriteFile(filepath.Join(dir, "..data", key), []byte("of "+key), 0o440))
		must(t, os.Symlink("..data/"+key, filepath.Join(dir, key)))
	}
	told, environ := map[string]string{}, []string(nil)
	for _, e := range container.Env {
		told[e.Name] = e.Value
		environ = append(environ, e.Name+"="+strings.Replace(e.Value, container.VolumeMounts[0].MountPath, dir, 1))
	}
	for _, problem := range check(t, environ) {
		t.Error(problem)
	}
	var names []string
	for i := range *c.masters.Spec.Replicas {
		names = append(names, fmt.Sprintf("%s-%d.%s:6379", c.masters.Name, i, c.masters.Spec.ServiceName))
	}
	if told["REDLOCK_PROXY_MASTER"] != strings.Join(names, ",") || c.services[c.masters.Spec.ServiceName].Spec.ClusterIP != core.ClusterIPNone {
		t.Errorf("the masters are %q, and proxies ask %s", names, told["REDLOCK_PROXY_MASTER"])
	}
	for port, option := range map[string]string{"redis": "REDLOCK_PROXY_LISTEN", "admin": "REDLOCK_PROXY_ADMIN_LISTEN"} {
		if !slices.ContainsFunc(container.Ports, func(p core.ContainerPort) bool {
			return p.Name == port && told[option] == fmt.Sprintf(":%d", p.ContainerPort)
		}) {
			t.Errorf("%s is at no port %s", told[option], port)
		}
	}
	ttl, err := time.ParseDuration(told["REDLOCK_PROXY_MAX_TTL"])
	if err != nil || time.Duration(*c.proxies.Spec.ProgressDeadlineSeconds)*time.Second < ttl+time.Minute {
		t.Errorf("a first start takes %s, %v, and may take %ds", ttl, err, *c.proxies.Spec.ProgressDeadlineSeconds)
	}
	drain, err := time.ParseDuration(told["REDLOCK_PROXY_DRAIN_TIME"])
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; err != nil || grace <= drain+byDefault(t, "shutdown-timeout") {
		t.Errorf("proxies go on for %s, %v, and are ended after %s", drain, err, grace)
	}
}

func TestMistakesInKubernetesAreFound(t *testing.T) {
	b, err := os.ReadFile("../../conf/kubernetes.yaml")
	must(t, err)
	for wrong, right := range map[string]string{
		"replica: 3": "replicas: 3", "kind: Deploy\n": "kind: Deployment\n", "readyProbe:": "readinessProbe:", "drops: [ALL]": "drop: [ALL]", "port: [": "to: [",
	} {
		text := strings.ReplaceAll(string(b), right, wrong)
		if _, err := readCluster(text); err == nil || text == string(b) {
			t.Errorf("%q instead of %q is not found", wrong, right)
		}
	}
}
