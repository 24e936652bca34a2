# where
secret_suffix = "a" // why
labels = {
  "x" = "y"
}
insecure = false
cluster_ca_certificate = <<-EOT
  -----BEGIN
  abc
  EOT
exec {
  api_version = "v1"
  command = "get-token"
}
