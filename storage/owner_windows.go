package storage

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ownerOnlyAttributes are what we create with: owned by this user, and a
// protected list that lets this user alone in.
func ownerOnlyAttributes(dir bool) (*windows.SecurityAttributes, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	inherit := ""
	if dir {
		inherit = "OICI"
	}
	sid := user.User.Sid.String()
	sd, err := windows.SecurityDescriptorFromString("O:" + sid + "D:P(A;" + inherit + ";FA;;;" + sid + ")")
	if err != nil {
		return nil, err
	}
	sa := &windows.SecurityAttributes{SecurityDescriptor: sd}
	sa.Length = uint32(unsafe.Sizeof(*sa))
	return sa, nil
}

// checkOpened is the owner-only rule on a file that openFile has opened.
func checkOpened(f *file, info Info) error {
	if err := checkInfo(f.name, info, Regular, info.UID); err != nil {
		return err
	}
	return f.with("check owner", func(h windows.Handle) error { return checkSecurity(h, f.name) })
}

// CheckOwner judges the handle it has opened, then makes sure that the path
// still names the same file.
func (d *disk) CheckOwner(name string, kind Kind) (Info, error) {
	if kind != Regular && kind != Dir {
		return Info{}, fmt.Errorf("check owner of %s: only files and directories can be owner-only", name)
	}
	before, err := lstat(name)
	if err != nil {
		return Info{}, err
	}
	if d.policy.OwnerOnly && before.Kind == Regular && before.Links == 2 {
		_ = HealTwin(d, name) // if it can't be, the links are refused below
	}
	h, err := createFile(name, windows.FILE_READ_ATTRIBUTES|windows.READ_CONTROL, windows.OPEN_EXISTING, openFlags, nil)
	if err != nil {
		return Info{}, pathError("check owner", name, err)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	info, err := handleInfo(h)
	if err != nil {
		return Info{}, pathError("check owner", name, err)
	}
	if err := checkInfo(name, info, kind, info.UID); err != nil {
		return Info{}, err
	}
	if err := checkSecurity(h, name); err != nil {
		return Info{}, err
	}
	after, err := lstat(name)
	if err != nil {
		return Info{}, err
	}
	if !after.SameFile(info) {
		return Info{}, &UnsafeError{Path: name, Reason: "was replaced while it was checked"}
	}
	return info, nil
}

// checkSecurity refuses another owner, and a list that is missing, lets anyone
// in but this user, the system and the administrators (who can take any file),
// or has an entry of a kind we don't know.
func checkSecurity(h windows.Handle, name string) error {
	refuse := func(reason string) error { return &UnsafeError{Path: name, Reason: reason} }
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	sd, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return refuse("security can't be read: " + err.Error())
	}
	owner, _, err := sd.Owner()
	if err != nil || owner == nil || !owner.Equals(user.User.Sid) {
		return refuse("belongs to another user")
	}
	acl, _, err := sd.DACL()
	if err != nil || acl == nil {
		return refuse("has no access control list")
	}
	for i := range uint32(acl.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(acl, i, &ace); err != nil {
			return refuse("access control list can't be read: " + err.Error())
		}
		switch ace.Header.AceType {
		case windows.ACCESS_DENIED_ACE_TYPE:
		case windows.ACCESS_ALLOWED_ACE_TYPE:
			sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
			if !sid.Equals(user.User.Sid) && !sid.IsWellKnown(windows.WinLocalSystemSid) &&
				!sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) {
				return refuse("access control list lets others in")
			}
		default:
			return refuse("access control list has an entry of an unknown kind")
		}
	}
	return nil
}

// selfUID is the owner of all files of a Memory; Windows has no numbers for users.
func selfUID() uint32 { return 0 }
