package scope

import "strings"

// networkPath reports whether a Windows path names a network share: \\server\…
// or \\?\UNC\…, in either slash. Device paths (\\?\C:\…, \\.\…) are local.
func networkPath(path string) bool {
	path = strings.ReplaceAll(path, "/", `\`)
	if !strings.HasPrefix(path, `\\`) {
		return false
	}
	rest := path[2:]
	if strings.HasPrefix(rest, `?\`) || strings.HasPrefix(rest, `.\`) {
		device := rest[2:]
		return len(device) >= 4 && strings.EqualFold(device[:4], `UNC\`)
	}
	return true
}
