package dashboard

import "net/http"

// loginPage asks for a key.
type loginPage struct {
	Back   string
	Failed string
}

func (c *call) loginForm() error {
	return c.show("login", page{Title: c.text("login.title"),
		Data: loginPage{Back: c.inside(c.value("back"))}})
}

// login checks a key, and redirects to the page that the reader requested.
func (c *call) login() error {
	back := c.inside(c.r.PostForm.Get("back"))
	if err := c.o.Login(c.w, c.r, c.r.PostForm.Get("key")); err != nil {
		c.write(http.StatusForbidden, "login",
			page{Title: c.text("login.title"), Data: loginPage{Back: back, Failed: err.Error()}})
		return nil
	}
	http.Redirect(c.w, c.r, back, http.StatusSeeOther)
	return nil
}

func (c *call) logout() error {
	c.o.Logout(c.w, c.r)
	http.Redirect(c.w, c.r, c.path("login"), http.StatusSeeOther)
	return nil
}
