# What the controller's runner makes of a pool, without the parts that need AWS: the tests hand states
# over between this root and the program.
variable "kubernetes_version" {
  type    = string
  default = "v1.34.1"
}

variable "machine_image" {
  type = object({
    id    = optional(string)
    owner = optional(string, "819546954734")
  })
  default = {}
}

variable "members" {
  type = map(object({ zone = string, address = string, state = string }))
  default = {
    i-0a = { zone = "us-east-1b", address = "10.0.2.7", state = "running" }
    i-0b = { zone = "us-east-1a", address = "10.0.1.9", state = "pending" }
  }
}

variable "dropped" {
  type    = list(string)
  default = []
}

variable "exists" {
  type    = bool
  default = true
}

module "role" {
  source             = "./role"
  kubernetes_version = var.kubernetes_version
  machine_image      = var.machine_image
  members            = var.members
  dropped            = var.dropped
  exists             = var.exists
}

output "provider_id" {
  value = module.role.provider_id
}

output "provider_id_list" {
  value = module.role.provider_id_list
}

output "replicas" {
  value = module.role.replicas
}

output "instances" {
  value = module.role.instances
}

output "health" {
  value = module.role.health
}

output "autoscaling_group_name" {
  value = module.role.autoscaling_group_name
}

output "dropped_node_labels" {
  value = module.role.dropped_node_labels
}

output "launch_template_id" {
  value     = module.role.launch_template_id
  sensitive = true
}
