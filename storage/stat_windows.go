package storage

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// basicInfo is FILE_BASIC_INFO.
type basicInfo struct {
	Created, Accessed, Written, Changed int64 // 100 ns since 1601
	Attributes                          uint32
	_                                   uint32
}

// unixEpoch is 1970 in the file times of Windows.
const unixEpoch = 116444736000000000

func unixNano(fileTime int64) int64 { return (fileTime - unixEpoch) * 100 }

// handleInfo tells about an open file. Windows has no permission bits: Mode is
// always the owner-only one, and CheckOwner reads the access control list. A
// reparse point of any kind counts as a link.
func handleInfo(h windows.Handle) (Info, error) {
	kind, err := windows.GetFileType(h)
	if err != nil {
		return Info{}, err
	}
	if kind != windows.FILE_TYPE_DISK {
		return Info{Kind: Other, Mode: fileMode, Links: 1}, nil
	}
	var st windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &st); err != nil {
		return Info{}, err
	}
	var basic basicInfo
	err = windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo,
		(*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic)))
	if err != nil {
		return Info{}, err
	}
	info := Info{
		Kind:       Regular,
		Links:      uint64(st.NumberOfLinks),
		Dev:        uint64(st.VolumeSerialNumber),
		Inode:      uint64(st.FileIndexHigh)<<32 | uint64(st.FileIndexLow),
		Size:       int64(st.FileSizeHigh)<<32 | int64(st.FileSizeLow),
		ModTime:    unixNano(basic.Written),
		ChangeTime: unixNano(basic.Changed),
	}
	switch {
	case st.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0:
		info.Kind = Symlink
	case st.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		info.Kind = Dir
	}
	info.Mode = modeOf(info.Kind)
	return info, nil
}
