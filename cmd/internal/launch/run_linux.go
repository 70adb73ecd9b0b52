package launch

import "syscall"

// dieWithParent has the kernel signal the program when this process dies.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGTERM }
