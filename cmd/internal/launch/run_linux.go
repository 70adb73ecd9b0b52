package launch

import "syscall"

// dieWithParent has the system tell the program when this process is gone.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
