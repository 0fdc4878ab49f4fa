package storage

import "golang.org/x/sys/windows"

func volumeOf(path string) (volume, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return volume{}, err
	}
	if _, err := windows.GetFileAttributes(p); err != nil {
		return volume{}, err
	}
	root := make([]uint16, windows.MAX_LONG_PATH)
	if err := windows.GetVolumePathName(p, &root[0], uint32(len(root))); err != nil {
		return volume{}, err
	}
	v := volume{network: windows.GetDriveType(&root[0]) == windows.DRIVE_REMOTE, free: -1}
	var free uint64
	if windows.GetDiskFreeSpaceEx(&root[0], &free, nil, nil) == nil {
		v.free = freeOf(free, 1)
	}
	kind := make([]uint16, windows.MAX_PATH+1)
	err = windows.GetVolumeInformation(&root[0], nil, 0, nil, nil, nil, &kind[0], uint32(len(kind)))
	if err != nil {
		return v, nil // what it is stays unknown; that it is remote may be known
	}
	v.fine = windows.UTF16ToString(kind) == "NTFS"
	return v, nil
}
