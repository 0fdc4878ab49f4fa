package storage

import "golang.org/x/sys/unix"

// The magic numbers of file systems that x/sys doesn't name, from statfs(2).
const (
	zfsMagic  = 0x2fc12fc1
	cephMagic = 0x00c36400
)

func volumeOf(path string) (volume, error) {
	var st unix.Statfs_t
	if _, err := retry(func() (int, error) { return 0, unix.Statfs(path, &st) }); err != nil {
		return volume{}, err
	}
	v := volume{free: freeOf(st.Bavail, uint64(st.Frsize))}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfsMagic:
		v.fine = true
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC,
		unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC, unix.NCP_SUPER_MAGIC,
		unix.V9FS_MAGIC, cephMagic:
		v.network = true
	}
	return v, nil
}
