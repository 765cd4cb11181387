package conf

import "time"

// demoMaxTTL is how long nothing is granted in a demo when everything was lost: so long that one sees it.
const demoMaxTTL = 30 * time.Second

// checkDemo has a demo be what its help says.
func (c *Config) checkDemo(problems *Problems) {
	if c.Command != Demo {
		return
	}
	if len(c.Master) > 0 {
		problems.add(c.where("master"), "masters are named, and a demo brings some along, to be broken", "leave them out")
	}
	if !c.hasAdmin() {
		problems.add(c.where("admin-listen"), "a demo is looked at by its page, and there is no admin listener for that", "name one in admin-listen, such as 127.0.0.1:6381")
	}
	c.AdminByItself = false // it is asked for
	if !c.named("max-ttl") {
		c.MaxTTL = demoMaxTTL
	}
	if !c.named("user") && !c.named("aclfile") {
		c.User = []string{"default on nopass ~* &* +@all"}
	}
}
