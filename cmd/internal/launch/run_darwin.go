package launch

import "syscall"

// dieWithParent has no effect: the system lacks this feature.
func dieWithParent(*syscall.SysProcAttr) {}
