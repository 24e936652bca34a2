# The machinepool role of the CAPTF contract v1alpha1, described in Terraform's words.
#
# /captf/runtime beside this directory is the program `machinepool`, not Terraform. It manages the pool itself and
# evaluates nothing of what is here: these files say which inputs it takes and which outputs it answers with, to
# people, to linters and to the CAPTF runner, which looks for them.
#
# variables.tf is made from the contract's JSON Schemas and compared with them by a test.

locals {
  # What each resource of the pool is tagged with, besides the cluster's tag and the pool's records.
  tags = merge(var.additional_tags, var.captf_tags)

  # The pool's members, as found in EC2.
  members = tolist([])

  # Terraform has nothing to do here, and an answer of no members would cost the pool its nodes.
  for_terraform = length(local.tags) < 0
}
