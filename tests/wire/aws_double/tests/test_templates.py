"""Launch templates."""

from .support import IMAGE, NEWER_IMAGE, DoubleTest, user_data

DATA = {"ImageId": IMAGE, "InstanceType": "m6i.large"}


class Creation(DoubleTest):
    def test_a_token_makes_creation_repeatable(self):
        fields = {"LaunchTemplateName": "pool", "LaunchTemplateData": DATA, "ClientToken": "t1"}
        first = self.ec2.create_launch_template(**fields)["LaunchTemplate"]
        again = self.ec2.create_launch_template(**fields)["LaunchTemplate"]
        self.assertEqual(first["LaunchTemplateId"], again["LaunchTemplateId"])
        fields["ClientToken"] = "t2"
        self.refused("InvalidLaunchTemplateName.AlreadyExistsException", self.ec2.create_launch_template, **fields)

    def test_a_token_makes_a_version_repeatable(self):
        template = self.template()
        fields = {"LaunchTemplateId": template, "LaunchTemplateData": DATA, "ClientToken": "t1"}
        numbers = [
            self.ec2.create_launch_template_version(**fields)["LaunchTemplateVersion"]["VersionNumber"] for _ in "ab"
        ]
        self.assertEqual(numbers, [2, 2])
        self.assertEqual(self.version(template), 3)
        fields["LaunchTemplateData"] = {**DATA, "ImageId": NEWER_IMAGE}
        self.refused("IdempotentParameterMismatch", self.ec2.create_launch_template_version, **fields)

    def test_a_dry_run_changes_nothing(self):
        template = self.template()
        for call, fields in [
            (self.ec2.create_launch_template, {"LaunchTemplateName": "other", "LaunchTemplateData": DATA}),
            (self.ec2.create_launch_template_version, {"LaunchTemplateId": template, "LaunchTemplateData": DATA}),
            (self.ec2.modify_launch_template, {"LaunchTemplateId": template, "DefaultVersion": "1"}),
            (self.ec2.delete_launch_template_versions, {"LaunchTemplateId": template, "Versions": ["1"]}),
            (self.ec2.delete_launch_template, {"LaunchTemplateId": template}),
        ]:
            self.refused("DryRunOperation", call, DryRun=True, **fields)
        found = self.ec2.describe_launch_templates()["LaunchTemplates"]
        self.assertEqual([(one["LaunchTemplateId"], one["LatestVersionNumber"]) for one in found], [(template, 1)])

    def test_user_data_has_a_limit(self):
        self.template("fits", UserData=user_data(16384))
        self.refused("InvalidUserData.Malformed", self.template, "big", UserData=user_data(16385))
        self.refused("InvalidUserData.Malformed", self.version, self.template("x12"), UserData=user_data(16385))

    def test_fifty_tags_and_no_more(self):
        def create(name, count):
            tags = [{"Key": f"k{n}", "Value": "v"} for n in range(count)]
            specification = [{"ResourceType": "launch-template", "Tags": tags}]
            made = self.ec2.create_launch_template(
                LaunchTemplateName=name, LaunchTemplateData=DATA, TagSpecifications=specification
            )
            return made["LaunchTemplate"]["LaunchTemplateId"]

        self.refused("TagLimitExceeded", create, "many", 51)
        template = create("full", 50)
        self.refused("TagLimitExceeded", self.ec2.create_tags, Resources=[template], Tags=[{"Key": "x", "Value": ""}])

    def test_what_is_sent_is_shown_and_no_more(self):
        sent = {
            **DATA,
            "KeyName": "key",
            "IamInstanceProfile": {"Name": "worker"},
            "UserData": user_data(3),
            "BlockDeviceMappings": [
                {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 40, "Encrypted": True, "DeleteOnTermination": True}}
            ],
            "NetworkInterfaces": [
                {
                    "DeviceIndex": 0,
                    "AssociatePublicIpAddress": False,
                    "DeleteOnTermination": True,
                    "Groups": ["sg-1", "sg-2"],
                }
            ],
            "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 1},
            "InstanceMarketOptions": {"MarketType": "spot"},
            "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "k", "Value": ""}]}],
        }
        self.ec2.create_launch_template(
            LaunchTemplateName="pool",
            LaunchTemplateData=sent,
            VersionDescription="first",
            TagSpecifications=[{"ResourceType": "launch-template", "Tags": [{"Key": "own", "Value": "1"}]}],
        )
        (shown,) = self.ec2.describe_launch_template_versions(LaunchTemplateName="pool")["LaunchTemplateVersions"]
        self.assertEqual(shown["VersionDescription"], "first")
        self.assertEqual(
            shown["LaunchTemplateData"].pop("MetadataOptions"), {"State": "pending", **sent.pop("MetadataOptions")}
        )
        self.assertEqual(shown["LaunchTemplateData"], sent)


class Versions(DoubleTest):
    def numbers(self, template, **fields):
        shown = self.ec2.describe_launch_template_versions(LaunchTemplateId=template, **fields)[
            "LaunchTemplateVersions"
        ]
        return [one["VersionNumber"] for one in shown]

    def test_versions_go_but_never_the_default_one(self):
        template = self.template()
        for _ in range(3):
            self.version(template)
        delete = self.ec2.delete_launch_template_versions
        self.refused("OperationNotPermitted", delete, LaunchTemplateId=template, Versions=["1", "2"])
        answer = delete(LaunchTemplateId=template, Versions=["2", "4", "9"])
        gone = [one["VersionNumber"] for one in answer["SuccessfullyDeletedLaunchTemplateVersions"]]
        (failed,) = answer["UnsuccessfullyDeletedLaunchTemplateVersions"]
        self.assertEqual(gone, [2, 4])
        self.assertEqual(
            (failed["VersionNumber"], failed["ResponseError"]["Code"]), (9, "launchTemplateVersionDoesNotExist")
        )
        self.assertEqual(self.numbers(template), [3, 1])
        self.assertEqual(self.numbers(template, Versions=["$Latest", "$Default"]), [3, 1])
        self.assertEqual(self.version(template), 5)

    def test_pages(self):
        template = self.template()
        for _ in range(6):
            self.version(template)
        pages = self.ec2.get_paginator("describe_launch_template_versions").paginate(
            LaunchTemplateId=template, PaginationConfig={"PageSize": 3}
        )
        sizes = [len(page["LaunchTemplateVersions"]) for page in pages]
        self.assertEqual(sizes, [3, 3, 1])

    def test_latest_and_default_are_one_if_they_are_the_same(self):
        self.assertEqual(self.numbers(self.template(), Versions=["$Latest", "$Default"]), [1])

    def test_what_is_missing_has_two_codes(self):
        describe = self.ec2.describe_launch_template_versions
        self.refused("InvalidLaunchTemplateId.NotFound", describe, LaunchTemplateId="lt-0fffffffffffffff0")
        self.refused("InvalidLaunchTemplateName.NotFoundException", describe, LaunchTemplateName="none")
        self.refused(
            "InvalidLaunchTemplateId.VersionNotFound", describe, LaunchTemplateId=self.template(), Versions=["7"]
        )
        self.refused(
            "InvalidLaunchTemplateId.NotFound", self.ec2.delete_launch_template, LaunchTemplateId="lt-0fffffffffffffff0"
        )


class Listing(DoubleTest):
    def names(self, *filters):
        filters = [{"Name": name, "Values": [value]} for name, value in filters]
        shown = self.ec2.describe_launch_templates(Filters=filters)["LaunchTemplates"]
        return sorted(one["LaunchTemplateName"] for one in shown)

    def test_filters(self):
        ids = {name: self.template(name) for name in ("pool-a1", "pool-a2", "pool-b1")}
        self.ec2.create_tags(Resources=[ids["pool-a1"], ids["pool-b1"]], Tags=[{"Key": "captf.io/name", "Value": "a"}])
        self.assertEqual(self.names(("launch-template-name", "pool-a*")), ["pool-a1", "pool-a2"])
        self.assertEqual(self.names(("tag:captf.io/name", "a")), ["pool-a1", "pool-b1"])
        self.assertEqual(self.names(("tag:captf.io/name", "a"), ("launch-template-name", "pool-a*")), ["pool-a1"])
        self.assertEqual(self.names(("launch-template-name", "none*")), [])
        self.refused("InvalidParameterValue", self.names, ("no-such-filter", "x"))

    def test_tags_changed_later_show(self):
        template = self.template()
        self.ec2.create_tags(Resources=[template], Tags=[{"Key": "k", "Value": "v"}])
        describe = self.ec2.describe_launch_templates
        self.assertEqual(
            describe(LaunchTemplateIds=[template])["LaunchTemplates"][0]["Tags"], [{"Key": "k", "Value": "v"}]
        )
        self.ec2.delete_tags(Resources=[template], Tags=[{"Key": "k"}])
        self.assertEqual(describe(LaunchTemplateIds=[template])["LaunchTemplates"][0].get("Tags", []), [])

    def test_pages(self):
        for n in range(7):
            self.template(f"pool-{n}")
        pages = self.ec2.get_paginator("describe_launch_templates").paginate(PaginationConfig={"PageSize": 3})
        self.assertEqual([len(page["LaunchTemplates"]) for page in pages], [3, 3, 1])

    def test_an_unknown_id_is_an_error(self):
        describe = self.ec2.describe_launch_templates
        self.refused("InvalidLaunchTemplateId.NotFound", describe, LaunchTemplateIds=["lt-0fffffffffffffff0"])


class Images(DoubleTest):
    def names(self, **filters):
        filters = [{"Name": name.replace("_", "-"), "Values": [value]} for name, value in filters.items()]
        shown = self.ec2.describe_images(Owners=["819546954734"], Filters=filters, IncludeDeprecated=True)["Images"]
        return sorted(one["ImageId"][-2:] for one in shown)

    def test_they_are_found_as_the_program_asks_for_them(self):
        wanted = {"architecture": "x86_64", "state": "available"}
        self.assertEqual(self.names(name="capa-ami-ubuntu-24.04-?1.34.1-*", **wanted), ["a1", "a2"])
        self.assertEqual(self.names(name="capa-ami-ubuntu-24.04-?1.31.4-*", **wanted), ["b1"])
        self.assertEqual(self.names(name="capa-ami-ubuntu-24.04-1.34.1-*", **wanted), [])
        self.assertEqual(self.names(name="capa-ami-ubuntu-24.04-?1.34.1-*", architecture="arm64"), ["a3"])
