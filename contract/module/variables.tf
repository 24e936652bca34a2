variable "captf_contract" {
  description = "Version of the contract."
  type        = string
  nullable    = false
}

variable "captf_cluster" {
  description = "The Cluster that the pool belongs to."
  type        = object({ name = string, namespace = string })
  nullable    = false
}

variable "captf_object" {
  description = "The TerraformMachinePool. Its namespace is part of the group's name."
  type        = object({ kind = string, name = string, namespace = string })
  nullable    = false
}

variable "captf_cluster_outputs" {
  description = "Exports of the cluster; empty or null if it is managed elsewhere, and external_cluster_exports has them."
  type        = any
}

variable "captf_tags" {
  description = "AWS tags for everything of the pool: captf.io/cluster, captf.io/namespace, captf.io/kind, captf.io/name, captf.io/managed-by and captf.io/template. At most 10, as S3 allows no more on an object."
  type        = map(string)
  nullable    = false
}

variable "machinepool_name" {
  description = "The pool's name, a DNS-1123 subdomain. It is part of the group's name and of the bootstrap object's key."
  type        = string
  nullable    = false
}

variable "replicas" {
  description = "How many instances the pool has while autoscaling is off."
  type        = number
  nullable    = false
}

variable "bootstrap_data" {
  description = "The bootstrap data in standard padded base64. A secret."
  type        = string
  nullable    = false
  sensitive   = true
}

variable "bootstrap_format" {
  description = "What the bootstrap data is."
  type        = string
  nullable    = false
}

variable "failure_domains" {
  description = "The pool's zones, at most 100; empty for the cluster's."
  type        = list(string)
  nullable    = false
}

variable "cluster_failure_domains" {
  description = "The cluster's zones; may be empty."
  type        = list(string)
  nullable    = false
}

variable "kubernetes_version" {
  description = "The Kubernetes version, kept verbatim. A change replaces the instances."
  type        = string
  default     = null
}

variable "node_labels" {
  description = "Labels for the pool's nodes, in Kubernetes' syntax."
  type        = map(string)
  nullable    = false
}

variable "autoscaling" {
  description = "Whether something sets the group's size between two bounds. When not enabled, the bounds are not looked at."
  type        = object({ enabled = bool, min = optional(number), max = optional(number) })
  nullable    = false
}

variable "additional_security_group_ids" {
  description = "Security groups that the instances join beside the cluster's worker groups."
  type        = list(string)
  default     = []
  nullable    = false
}

variable "additional_tags" {
  description = "Tags for everything of the pool but the bootstrap object; at most 40, no key beginning with `aws:`, `captf.io/`, `machinepool.captf.io/` or `kubernetes.io/cluster/`."
  type        = map(string)
  default     = {}
  nullable    = false
}

variable "autoscaler" {
  description = "Who sets the group's size while autoscaling is enabled: `native`, a target-tracking policy on CPU, or `external`, something that acts on the Auto Scaling group itself, such as the Cluster Autoscaler's `aws` provider (its `clusterapi` provider cannot: the controller overwrites what it writes). The scaler's discovery tags go into `additional_tags`."
  type        = string
  default     = "native"
  nullable    = false
}

variable "autoscaling_target_cpu_percent" {
  description = "The average CPU, in percent, that the `native` scaling policy aims at; above 0, at most 100, fractions allowed."
  type        = number
  default     = 60
  nullable    = false
}

variable "external_cluster_exports" {
  description = "What the cluster exports, for a cluster that is managed elsewhere; read only while `captf_cluster_outputs` is empty."
  type        = any
  default     = null
}

variable "instance_metadata_hop_limit" {
  description = "How many network hops an answer of the instance metadata service may take, 1 to 64; pods with a network of their own need 2 to reach it."
  type        = number
  default     = 1
  nullable    = false
}

variable "instance_type" {
  description = "EC2 instance type; a change holds for instances launched after it."
  type        = string
  default     = "m6i.large"
  nullable    = false
}

variable "machine_image" {
  description = "The AMI. With `id`, that one; a change of `id` replaces the instances. Without, the newest of `owner` (an account, `self`, `amazon` or `aws-marketplace`) whose name fits `name_format`, in which `{semver}` stands for the Kubernetes version without its leading `v` and `{version}` for the one with it. `root_device_name` must be the image's own: Ubuntu has `/dev/sda1`, Amazon Linux and Flatcar have `/dev/xvda`."
  type        = object({ id = optional(string), owner = optional(string, "819546954734"), name_format = optional(string, "capa-ami-ubuntu-24.04-?{semver}-*"), architecture = optional(string, "x86_64"), root_device_name = optional(string, "/dev/sda1") })
  default     = {}
  nullable    = false
}

variable "public_ip" {
  description = "Whether instances get a public IPv4 address."
  type        = bool
  default     = false
  nullable    = false
}

variable "rollout_instance_warmup_seconds" {
  description = "How many seconds a roll lets a new instance settle before it goes on."
  type        = number
  default     = 300
  nullable    = false
}

variable "root_volume_kms_key_id" {
  description = "ARN of the KMS key that encrypts root volumes, instead of the account's default; a key of your own must let the role `AWSServiceRoleForAutoScaling` use it."
  type        = string
  default     = null
}

variable "root_volume_size_gib" {
  description = "Size of a root volume in GiB, 8 to 16384."
  type        = number
  default     = 40
  nullable    = false
}

variable "root_volume_type" {
  description = "Type of a root volume: `gp3` or `gp2`."
  type        = string
  default     = "gp3"
  nullable    = false
}

variable "spot" {
  description = "Whether to launch Spot Instances, replaced ahead of an interruption where possible."
  type        = bool
  default     = false
  nullable    = false
}

variable "ssh_key_name" {
  description = "EC2 key pair for SSH; who can reach the port is up to the security groups."
  type        = string
  default     = null
}
