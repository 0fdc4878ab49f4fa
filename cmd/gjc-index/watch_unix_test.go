//go:build unix

package main

import "syscall"

// stopSignal makes a process stand still.
const stopSignal = syscall.SIGSTOP
