module precis

go 1.26
