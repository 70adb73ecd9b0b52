package preview

// Aside reports whether a line of a command's output, of which there may be any number around its
// result, says nothing of it: how far a transfer is, a step that went as it should, a separator, and
// what a tool says of itself: a newer version of it, whom to pay, what it will no longer support.
func Aside(line string) bool {
	t := trim(line)
	if t == "" {
		return true
	}
	return separator(t) || isProgress(t) || markOf(t) == markChatter || ofTheTool(t)
}

// ofTheTool recognizes what package managers and runtimes say of themselves.
func ofTheTool(t string) bool {
	return hasPrefix(t, "npm notice", "npm warn", "npm WARN", "npm fund", "Run `npm ", "run `npm ", "Run \"npm ", "[notice] ", "[pnpm] ", "WARNING: You are using pip", "hint: ", "(node:", "(Use `node ",
		"Browserslist:", "npx update-browserslist", "npx browserslist", "yarn notice", "Update available", "A new release of ", "A new version of ", "New version available", "To upgrade, run", "To update, run")
}
