"""Launch templates as strict as AWS: versions can be deleted, tokens make creation repeatable, limits hold."""

import base64
import copy
from fnmatch import fnmatchcase

from moto.core.responses import ActionResult
from moto.ec2.exceptions import InvalidLaunchTemplateVersionNotFound
from moto.ec2.models.launch_templates import LaunchTemplate, LaunchTemplateVersion
from moto.ec2.utils import parse_user_data

from . import tags as tag_rules
from .errors import ec2

USER_DATA_LIMIT = 16384
PAGE = 200
VERSIONS_A_CALL = 200


class StrictTemplate(LaunchTemplate):
    """Version numbers are never used twice, and any version but the default one can go."""

    def create_version(self, data, description):
        self.last_number = getattr(self, "last_number", 0) + 1
        version = LaunchTemplateVersion(self, self.last_number, data, description)
        self.versions.append(version)
        return version

    def get_version(self, num):
        word = str(num)
        if word == "$Latest":
            return self.versions[-1]
        if word == "$Default":
            return self.default_version()
        for version in self.versions:
            if str(version.number) == word:
                return version
        raise InvalidLaunchTemplateVersionNotFound(template_id=self.id, version=num)

    def default_version(self):
        return self.get_version(self.default_version_number)


class TemplateOperations:
    """The operations on launch templates; mixed into EC2's responses before moto's own."""

    def create_launch_template(self):
        return self._once("CreateLaunchTemplate", self._create_template)

    def create_launch_template_version(self):
        return self._once("CreateLaunchTemplateVersion", self._create_version)

    def delete_launch_template_versions(self):
        self.error_on_dryrun()
        template = self._template()
        numbers = self._get_param("Versions", [])
        if not 1 <= len(numbers) <= VERSIONS_A_CALL:
            raise ec2("InvalidParameterValue", f"A call takes 1 to {VERSIONS_A_CALL} launch template versions.")
        done, failed = [], []
        for number in numbers:
            who = {"LaunchTemplateId": template.id, "LaunchTemplateName": template.name, "VersionNumber": int(number)}
            found = [version for version in template.versions if str(version.number) == str(number)]
            if not found:
                error = {"Code": "launchTemplateVersionDoesNotExist", "Message": "The version does not exist."}
                failed.append({**who, "ResponseError": error})
            elif template.is_default(found[0]):
                # One default version among them and the whole call is refused.
                raise ec2("OperationNotPermitted", "The default version cannot be deleted.")
            else:
                done.append((found[0], who))
        for version, _ in done:
            template.versions.remove(version)
        return ActionResult(
            {
                "SuccessfullyDeletedLaunchTemplateVersions": [who for _, who in done],
                "UnsuccessfullyDeletedLaunchTemplateVersions": failed,
            }
        )

    def modify_launch_template(self):
        self.error_on_dryrun()
        template = self._template()
        number = self._get_param("DefaultVersion") or self._get_param("SetDefaultVersion")
        template.default_version_number = template.get_version(number).number
        return ActionResult({"LaunchTemplate": describe(template)})

    def delete_launch_template(self):
        self.error_on_dryrun()
        template = self._template()
        self.ec2_backend.launch_templates.pop(template.id)
        self.ec2_backend.launch_template_name_to_ids.pop(template.name)
        self.ec2_backend.tags.pop(template.id, None)
        return ActionResult({"LaunchTemplate": describe(template)})

    def describe_launch_templates(self):
        backend = self.ec2_backend
        templates = list(backend.launch_templates.values())
        for name in self._get_param("LaunchTemplateNames", []):
            if name not in backend.launch_template_name_to_ids:
                raise name_not_found()
        for template_id in self._get_param("LaunchTemplateIds", []):
            if template_id not in backend.launch_templates:
                raise id_not_found(template_id)
        names, ids = self._get_param("LaunchTemplateNames", []), self._get_param("LaunchTemplateIds", [])
        if names or ids:
            templates = [template for template in templates if template.name in names or template.id in ids]
        for name, patterns in self._filters_from_querystring().items():
            templates = [template for template in templates if matches(template, name, patterns)]
        page, token = self._page(sorted(templates, key=lambda template: template.id))
        return ActionResult({"LaunchTemplates": [describe(template) for template in page], "NextToken": token})

    def describe_launch_template_versions(self):
        template = self._template()
        wanted = self._get_param("Versions", [])
        if wanted:
            versions = {version.number: version for version in map(template.get_version, wanted)}.values()
        else:
            low = self._get_int_param("MinVersion", 0)
            high = self._get_int_param("MaxVersion", template.last_number)
            versions = [version for version in template.versions if low <= version.number <= high]
        # Newest first, as AWS lists them.
        page, token = self._page(sorted(versions, key=lambda version: -version.number))
        return ActionResult({"LaunchTemplateVersions": [describe_version(v) for v in page], "NextToken": token})

    def create_tags(self):
        found = tag_rules.fault({tag["Key"]: tag.get("Value") for tag in self._get_param("Tags", [])})
        if found:
            raise ec2("TagLimitExceeded" if found[0] == "limit" else "InvalidParameterValue", found[1])
        return super().create_tags()

    def _create_template(self):
        name = self._get_param("LaunchTemplateName")
        if not 3 <= len(name) <= 128:
            raise ec2("InvalidLaunchTemplateName.MalformedException", "A launch template name has 3 to 128 characters.")
        tags = {}
        for specification in self._get_param("TagSpecifications", []):
            if specification.get("ResourceType") != "launch-template":
                raise ec2("InvalidParameterValue", "Only the launch template itself can be tagged here.")
            tags.update({tag["Key"]: tag.get("Value", "") for tag in specification.get("Tags", [])})
        found = tag_rules.fault(tags)
        if found:
            raise ec2("TagLimitExceeded" if found[0] == "limit" else "InvalidParameterValue", found[1])
        data = self._data()
        template = self.ec2_backend.create_launch_template(
            name, self._get_param("VersionDescription"), data, {"launch-template": tags}
        )
        return {"LaunchTemplate": describe(template)}

    def _create_version(self):
        template = self._template()
        data = self._data()
        source = self._get_param("SourceVersion")
        if source:
            data = {**copy.deepcopy(template.get_version(source).data), **data}
        version = template.create_version(data, self._get_param("VersionDescription"))
        return {"LaunchTemplateVersion": describe_version(version)}

    def _data(self):
        data = copy.deepcopy(dict(self._get_param("LaunchTemplateData", {}) or {}))
        if not data:
            raise ec2("MissingParameter", "The request must contain the parameter LaunchTemplateData")
        for specification in data.get("TagSpecifications", []):
            found = tag_rules.fault({tag["Key"]: tag.get("Value") for tag in specification.get("Tags", [])})
            if found:
                raise ec2("TagLimitExceeded" if found[0] == "limit" else "InvalidParameterValue", found[1])
        if data.get("UserData"):
            text = parse_user_data(data["UserData"])
            if len(base64.b64decode(text.as_bytes())) > USER_DATA_LIMIT:
                raise ec2("InvalidUserData.Malformed", f"User data is limited to {USER_DATA_LIMIT} bytes")
            data["UserData"] = text
        return data

    def _template(self):
        name, template_id = self._get_param("LaunchTemplateName"), self._get_param("LaunchTemplateId")
        if bool(name) == bool(template_id):
            raise ec2("MissingParameter", "Name the launch template by its id or by its name, not both.")
        backend = self.ec2_backend
        if name:
            if name not in backend.launch_template_name_to_ids:
                raise name_not_found(name)
            template_id = backend.launch_template_name_to_ids[name]
        if template_id not in backend.launch_templates:
            raise id_not_found(template_id)
        return backend.launch_templates[template_id]

    def _once(self, operation, create):
        """The same token with the same parameters gives the first answer again, whatever became of it."""
        self.error_on_dryrun()
        token = self._get_param("ClientToken")
        if not token:
            return ActionResult(create())
        answers = self.ec2_backend.__dict__.setdefault("client_tokens", {})
        asked = sorted((name, value) for name, value in self.querystring.items() if name != "ClientToken")
        if (operation, token) not in answers:
            answers[operation, token] = (asked, create())
        first_asked, answer = answers[operation, token]
        if first_asked != asked:
            raise ec2("IdempotentParameterMismatch", "The client token was used with other parameters.")
        return ActionResult(answer)

    def _page(self, found):
        start = int(self._get_param("NextToken") or 0)
        size = self._get_int_param("MaxResults", PAGE)
        end = start + size
        return found[start:end], str(end) if end < len(found) else None


def matches(template, name, patterns):
    if name == "launch-template-name":
        values = [template.name]
    elif name == "create-time":
        values = [template.create_time.isoformat()]
    elif name.startswith("tag:"):
        values = [tag["value"] for tag in template.get_tags() if tag["key"] == name[4:]]
    elif name == "tag-key":
        values = [tag["key"] for tag in template.get_tags()]
    else:
        raise ec2("InvalidParameterValue", f"The filter '{name}' is invalid")
    return any(fnmatchcase(value, pattern.replace("[", "[[]")) for value in values for pattern in patterns)


def describe(template):
    return {
        "CreateTime": template.create_time,
        "CreatedBy": "arn:aws:iam::123456789012:root",
        "DefaultVersionNumber": template.default_version_number,
        "LatestVersionNumber": template.latest_version_number,
        "LaunchTemplateId": template.id,
        "LaunchTemplateName": template.name,
        "Tags": [{"Key": tag["key"], "Value": tag["value"]} for tag in template.get_tags()],
    }


def describe_version(version):
    data = dict(version.data)
    if data.get("MetadataOptions"):
        # AWS fills this in.
        data["MetadataOptions"] = {"State": "pending", **data["MetadataOptions"]}
    return {
        "CreateTime": version.create_time,
        "CreatedBy": "arn:aws:iam::123456789012:root",
        "DefaultVersion": version.template.is_default(version),
        "LaunchTemplateData": data,
        "LaunchTemplateId": version.template.id,
        "LaunchTemplateName": version.template.name,
        "VersionDescription": version.description,
        "VersionNumber": version.number,
    }


def name_not_found(name=None):
    subject = f"The specified launch template, with template name {name}," if name else "At least one launch template"
    return ec2("InvalidLaunchTemplateName.NotFoundException", f"{subject} does not exist.")


def id_not_found(template_id):
    message = f"The specified launch template, with template ID {template_id}, does not exist."
    return ec2("InvalidLaunchTemplateId.NotFound", message)
