package preview

// Aside reports whether a line of a command's output is not part of its result: the progress of a
// transfer, a successful step, a separator, or a tool's notice about itself: a newer version, a
// request for donations, a deprecation. A result may be surrounded by any number of such lines.
func Aside(line string) bool {
	t := trim(line)
	if t == "" {
		return true
	}
	return separator(t) || isProgress(t) || markOf(t) == markChatter || ofTheTool(t)
}

// ofTheTool recognizes notices of package managers and runtimes about themselves.
func ofTheTool(t string) bool {
	return hasPrefix(t, "npm notice", "npm warn", "npm WARN", "npm fund", "Run `npm ", "run `npm ",
		"Run \"npm ", "[notice] ", "[pnpm] ", "WARNING: You are using pip", "hint: ", "(node:", "(Use `node ",
		"Browserslist:", "npx update-browserslist", "npx browserslist", "yarn notice", "Update available",
		"A new release of ", "A new version of ", "New version available", "To upgrade, run",
		"To update, run")
}
