variable "kubernetes_version" {
  type = string
}

variable "machine_image" {
  type = object({ id = optional(string), owner = optional(string) })
}

variable "members" {
  type = map(object({ zone = string, address = string, state = string }))
}

variable "dropped" {
  type = list(string)
}

variable "exists" {
  type = bool
}

resource "terraform_data" "kubernetes_version_roll" {
  triggers_replace = {
    kubernetes_version = var.kubernetes_version
    machine_image_id   = var.machine_image.id
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "inherited_zones" {
  input = sort(["us-east-1b", "us-east-1a"])

  lifecycle {
    ignore_changes = [input]
  }
}

locals {
  ids = sort([for id, member in var.members : "aws:///${member.zone}/${id}"])
}

output "provider_id" {
  value = var.exists ? "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:demo" : null
}

output "provider_id_list" {
  value = local.ids
}

output "replicas" {
  value = 3
}

output "instances" {
  value = [for id in local.ids : {
    provider_id    = id
    instance_id    = split("/", id)[4]
    addresses      = [{ type = "InternalIP", address = var.members[split("/", id)[4]].address }]
    failure_domain = split("/", id)[3]
    state          = var.members[split("/", id)[4]].state
  }]
}

output "health" {
  value = {
    state   = "running"
    healthy = false
    message = "1 of 3 members running"
    reasons = concat([for id in local.ids : "InstancePending:${split("/", id)[4]}"], ["ScalingInProgress"])
  }
}

output "autoscaling_group_name" {
  value = "captf-team-a-demo-pool-0-43c6d828"
}

output "dropped_node_labels" {
  value = sort(var.dropped)
}

output "launch_template_id" {
  value = "lt-0123456789abcdef0"
}
