#include "textflag.h"

// func strangeBlocks(data *byte, n int, high byte) int
TEXT ·strangeBlocks(SB), NOSPLIT, $0-32
	MOVQ         data+0(FP), SI
	MOVQ         n+8(FP), CX
	VPBROADCASTB high+16(FP), Y0
	MOVL         $0x5C, AX           // backslash
	MOVQ         AX, X1
	VPBROADCASTB X1, Y1
	MOVL         $0x75, AX           // u
	MOVQ         AX, X2
	VPBROADCASTB X2, Y2
	XORQ         DX, DX
	SUBQ         $65, CX

loop:
	CMPQ      DX, CX
	JGT       done
	VMOVDQU   (SI)(DX*1), Y3
	VMOVDQU   32(SI)(DX*1), Y4
	VPCMPEQB  1(SI)(DX*1), Y2, Y5
	VPCMPEQB  33(SI)(DX*1), Y2, Y6
	VPCMPEQB  Y3, Y1, Y7
	VPCMPEQB  Y4, Y1, Y8
	VPAND     Y5, Y7, Y7
	VPAND     Y6, Y8, Y8
	VPOR      Y3, Y4, Y3
	VPAND     Y0, Y3, Y3
	VPOR      Y7, Y8, Y7
	VPOR      Y3, Y7, Y7
	VPMOVMSKB Y7, AX
	TESTL     AX, AX
	JNE       done
	ADDQ      $64, DX
	JMP       loop

done:
	VZEROUPPER
	MOVQ DX, ret+24(FP)
	RET

// func tripleBlocks(data *byte, n int, set, want *[3]uint64) int
TEXT ·tripleBlocks(SB), NOSPLIT, $0-40
	MOVQ         data+0(FP), SI
	MOVQ         n+8(FP), CX
	MOVQ         set+16(FP), AX
	MOVQ         want+24(FP), BX
	VPBROADCASTB (AX), Y0
	VPBROADCASTB 8(AX), Y1
	VPBROADCASTB 16(AX), Y2
	VPBROADCASTB (BX), Y3
	VPBROADCASTB 8(BX), Y4
	VPBROADCASTB 16(BX), Y5
	XORQ         DX, DX
	SUBQ         $66, CX

next:
	CMPQ      DX, CX
	JGT       end
	VPOR      (SI)(DX*1), Y0, Y6
	VPOR      1(SI)(DX*1), Y1, Y7
	VPOR      2(SI)(DX*1), Y2, Y8
	VPOR      32(SI)(DX*1), Y0, Y9
	VPOR      33(SI)(DX*1), Y1, Y10
	VPOR      34(SI)(DX*1), Y2, Y11
	VPCMPEQB  Y6, Y3, Y6
	VPCMPEQB  Y7, Y4, Y7
	VPCMPEQB  Y8, Y5, Y8
	VPCMPEQB  Y9, Y3, Y9
	VPCMPEQB  Y10, Y4, Y10
	VPCMPEQB  Y11, Y5, Y11
	VPAND     Y6, Y7, Y6
	VPAND     Y9, Y10, Y9
	VPAND     Y6, Y8, Y6
	VPAND     Y9, Y11, Y9
	VPOR      Y6, Y9, Y6
	VPMOVMSKB Y6, AX
	TESTL     AX, AX
	JNE       end
	ADDQ      $64, DX
	JMP       next

end:
	VZEROUPPER
	MOVQ DX, ret+32(FP)
	RET
