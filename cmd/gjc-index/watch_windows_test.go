package main

import "syscall"

// stopSignal is one that can't be sent here.
const stopSignal = syscall.SIGHUP
