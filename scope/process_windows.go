package scope

import "golang.org/x/sys/windows"

// processAlive opens the process; one that may not be opened is alive.
func processAlive(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return err == windows.ERROR_ACCESS_DENIED
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var code uint32
	const stillActive = 259
	return windows.GetExitCodeProcess(h, &code) != nil || code == stillActive
}

// bootID has no counterpart here.
func bootID() string { return "" }
