# SPDX-License-Identifier: Apache-2.0
"""ONNX messages by reflection: all fields that their descriptors have, whatever ONNX adds."""

import dataclasses

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from onnx import onnx_ml_pb2

# Fields that are newer than Debian's onnx: message, name, number.
NEWER = (("NodeProto", "overload", 8), ("NodeProto", "metadata_props", 9),
         ("GraphProto", "metadata_props", 16), ("TensorProto", "metadata_props", 16),
         ("ValueInfoProto", "metadata_props", 4))

# By which fields the elements of a repeated one are found again; others, by their position.  A node
# of another operator is another node, even if it has the name of what was fused into it.
KEYS = {"NodeProto": "name op_type", "AttributeProto": "name", "TensorProto": "name",
        "ValueInfoProto": "name", "StringStringEntryProto": "key", "OperatorSetIdProto": "domain",
        "TensorAnnotation": "tensor_name"}


def model_class():
    """ModelProto of Debian's onnx with the fields of NEWER."""
    file = descriptor_pb2.FileDescriptorProto()
    onnx_ml_pb2.DESCRIPTOR.CopyToProto(file)
    messages = {message.name: message for message in file.message_type}
    for message, name, number in NEWER:
        if name in {field.name for field in messages[message].field}:
            continue
        field = messages[message].field.add(name=name, number=number)
        if name == "overload":
            field.label, field.type = field.LABEL_OPTIONAL, field.TYPE_STRING
        else:
            field.label, field.type = field.LABEL_REPEATED, field.TYPE_MESSAGE
            field.type_name = f".{file.package}.StringStringEntryProto"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName(f"{file.package}.ModelProto")
    return message_factory.MessageFactory(pool).GetPrototype(found)


Model = model_class()


def is_repeated(field):
    return field.label == FieldDescriptor.LABEL_REPEATED


def is_message(field):
    return field.type == FieldDescriptor.TYPE_MESSAGE


def fill(message, text):
    """Sets every doc_string and denotation, and adds metadata, wherever a message has the field."""
    for field in message.DESCRIPTOR.fields:
        if field.name in ("doc_string", "denotation"):
            setattr(message, field.name, f"{text} {field.name}")
        elif field.name == "metadata_props":
            message.metadata_props.add(key="about", value=text)
        elif is_message(field) and is_repeated(field):
            for i, element in enumerate(getattr(message, field.name)):
                fill(element, f"{text} {field.name} {i}")
        elif is_message(field) and message.HasField(field.name):
            fill(getattr(message, field.name), f"{text} {field.name}")


def with_one_field_cleared(model):
    """For each field that is set, a copy of the model without it, and the field's path."""
    def steps(message):
        for field, value in message.ListFields():
            yield (field.name,)
            if is_message(field):
                elements = value if is_repeated(field) else [value]
                for i, element in enumerate(elements):
                    for rest in steps(element):
                        yield (field.name, i if is_repeated(field) else None, *rest)

    for *path, last in steps(model):
        copy = type(model)()
        copy.CopyFrom(model)
        at = copy
        for name, i in zip(path[::2], path[1::2]):
            at = getattr(at, name) if i is None else getattr(at, name)[i]
        at.ClearField(last)
        yield copy, ".".join([*path[::2], last])


@dataclasses.dataclass
class Difference:
    """`path` is that of the fields, as in `graph.node.attribute.ints`; `keys` are those of the
    elements on it.  An element that only one side has is None on the other."""
    path: str
    keys: tuple
    before: object
    after: object

    def __str__(self):
        def short(value):
            return repr(value)[:100]
        return f"{self.path} {self.keys}: {short(self.before)} became {short(self.after)}"


def keyed(elements, path):
    key = KEYS.get(elements[0].DESCRIPTOR.name) if elements else None
    if key is None:
        return {str(i): element for i, element in enumerate(elements)}
    found = {" ".join(getattr(element, part) for part in key.split()): element
             for element in elements}
    if len(found) != len(elements):
        raise ValueError(f"{path}: two elements of one {key}")
    return found


def compare(before, after, path="", keys=()):
    """The differences of two messages of one type."""
    for field in before.DESCRIPTOR.fields:
        at = f"{path}.{field.name}" if path else field.name
        was, now = getattr(before, field.name), getattr(after, field.name)
        if is_message(field) and is_repeated(field):
            was, now = keyed(was, at), keyed(now, at)
            for key in dict.fromkeys([*was, *now]):
                if key in was and key in now:
                    yield from compare(was[key], now[key], at, (*keys, key))
                else:
                    yield Difference(at, (*keys, key), was.get(key), now.get(key))
            order = [[key for key in side if key in was and key in now] for side in (was, now)]
            if order[0] != order[1]:
                yield Difference(f"{at}(order)", keys, *order)
        elif is_message(field):
            present = [side.HasField(field.name) for side in (before, after)]
            if all(present):
                yield from compare(was, now, at, keys)
            elif any(present):
                yield Difference(at, keys, was if present[0] else None, now if present[1] else None)
        elif is_repeated(field):
            if list(was) != list(now):
                yield Difference(at, keys, list(was), list(now))
        elif was != now:
            yield Difference(at, keys, was, now)
