module redlock-proxy/integration/ship

go 1.26.8
