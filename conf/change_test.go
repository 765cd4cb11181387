package conf

import (
	"reflect"
	"strings"
	"testing"
)

func TestOldMastersAreReadAsMastersAre(t *testing.T) {
	c := load(t, []string{"REDLOCK_PROXY_MASTER_PASSWORD=common"}, "change-masters",
		"--from", "10.0.0.1:6381,redis://:own@10.0.0.2?name=b", "--from=10.0.0.3:6379",
		"--master", "10.0.0.1:6381", "--master", "10.0.0.4:6379", "--master", "10.0.0.5:6379")
	want := []Master{
		{Address{"tcp", "10.0.0.1:6381"}, false, "", "common", ""},
		{Address{"tcp", "10.0.0.2:6379"}, false, "", "own", "b"},
		{Address{"tcp", "10.0.0.3:6379"}, false, "", "common", ""},
	}
	if c.Command != ChangeMasters || !reflect.DeepEqual(c.OldMasters, want) || len(c.Masters) != 3 {
		t.Errorf("%v: %v, want %v", c.Command, c.OldMasters, want)
	}
}

func TestChangeOfTheSetNeedsBothSets(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"--master", "a:1,b:1,c:1"}, "the old set is not named"},
		{[]string{"--from", "a:1,b:1,c:1"}, "the new set is not named"},
		{[]string{"--from", "a:1,b:1,a:1", "--master", "a:1,b:1,d:1"}, "a:1 is there twice"},
		{[]string{"--from", "a:1,b:x", "--master", "a:1,b:1,d:1"}, "--from: "},
		{[]string{"--from", "a:1,u:secret@b:1", "--master", "a:1,b:1,d:1"}, "master 2 has a user or password"},
	} {
		_, err := Load(append([]string{"change-masters"}, row.args...), nil)
		if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %s", row.args, err, row.want)
		}
	}
	if _, err := Load([]string{"serve", "--from", "a:1", "--master", "a:1,b:1,c:1"}, nil); err == nil {
		t.Error("serve takes --from")
	}
}
