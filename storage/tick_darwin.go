package storage

import "golang.org/x/sys/unix"

func volumeOf(path string) (volume, error) {
	var st unix.Statfs_t
	if _, err := retry(func() (int, error) { return 0, unix.Statfs(path, &st) }); err != nil {
		return volume{}, err
	}
	return volume{
		fine:    unix.ByteSliceToString(st.Fstypename[:]) == "apfs",
		network: st.Flags&unix.MNT_LOCAL == 0,
		free:    freeOf(st.Bavail, uint64(st.Bsize)),
	}, nil
}
