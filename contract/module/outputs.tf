output "provider_id" {
  description = "The Auto Scaling group's ARN; null while there is no group."
  value       = tostring(null)
}

output "provider_id_list" {
  description = "Every member that is pending, running, stopping or stopped, whatever its health; sorted."
  value       = sort([for member in local.members : member.provider_id])
}

output "replicas" {
  description = "The group's desired capacity as observed; the replicas input while there is no group."
  value       = var.replicas
}

output "instances" {
  description = "The members, in the order of provider_id_list; only the first 1000."
  value = [for member in local.members : {
    provider_id    = member.provider_id
    instance_id    = member.instance_id
    addresses      = [for address in member.addresses : { type = "InternalIP", address = address }]
    failure_domain = member.failure_domain
    state          = member.state
  }]
}

output "health" {
  description = "The pool's health as the members and the group's activities show it."
  value = {
    state   = "unknown"
    healthy = false
    message = "Only the machinepool program can tell."
    reasons = []
  }

  precondition {
    condition     = local.for_terraform
    error_message = "This directory only describes the machinepool role: the program /captf/runtime of its image manages the pool, and Terraform or OpenTofu cannot."
  }
}

output "autoscaling_group_name" {
  description = "The group's name."
  value       = tostring(null)
}

output "dropped_node_labels" {
  description = "Labels that a kubelet may not set on itself and that were left out; sorted."
  value       = sort([])
}

output "launch_template_id" {
  description = "The current launch template; null without one."
  value       = tostring(null)
}
