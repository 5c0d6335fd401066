import type { ProtoFile } from './proto-file.js'

const WRAPPED = ['double', 'float', 'int64', 'uint64', 'int32', 'uint32', 'bool', 'string', 'bytes'] as const

/** `UInt64Value`, and so on. */
function wrapperName(type: string): string {
  return `${type.replace(/^u?int|^./, (start) => ({ uint: 'UInt', int: 'Int' })[start] ?? start.toUpperCase())}Value`
}

/** The files of `google/protobuf` that others import. */
export const googleFiles: readonly ProtoFile[] = [
  {
    name: 'google/protobuf/duration.proto',
    package: 'google.protobuf',
    messages: { Duration: { seconds: 'int64 1', nanos: 'int32 2' } },
  },
  {
    name: 'google/protobuf/wrappers.proto',
    package: 'google.protobuf',
    messages: Object.fromEntries(WRAPPED.map((type) => [wrapperName(type), { value: `${type} 1` }])),
  },
  {
    name: 'google/protobuf/struct.proto',
    package: 'google.protobuf',
    messages: {
      Struct: { fields: 'map .google.protobuf.Struct.FieldsEntry 1' },
      'Struct.FieldsEntry': { key: 'string 1', value: '.google.protobuf.Value 2' },
      Value: {
        'kind.null_value': '.google.protobuf.NullValue 1',
        'kind.number_value': 'double 2',
        'kind.string_value': 'string 3',
        'kind.bool_value': 'bool 4',
        'kind.struct_value': '.google.protobuf.Struct 5',
        'kind.list_value': '.google.protobuf.ListValue 6',
      },
      ListValue: { values: 'repeated .google.protobuf.Value 1' },
    },
    enums: { NullValue: ['NULL_VALUE'] },
  },
]
