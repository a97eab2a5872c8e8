module keywright/hpke-judge

go 1.26
