package toolcall

// Effects returns the files that a shell command line says it writes or removes.
func Effects(command string) []Effect { return readShell(command).Effects }

// Reads returns the files whose content a shell command line prints.
func Reads(command string) []string { return readShell(command).Reads }
