import { once } from 'node:events'
import protobuf from 'protobufjs'
import descriptors from 'protobufjs/ext/descriptor/index.js'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { envoyProtoFiles } from '../../src/envoy/envoy-proto-files.js'
import { HEALTH_FILE } from '../../src/grpc/health-methods.js'
import { reflectionMethods } from '../../src/grpc/reflection/reflection-methods.js'
import { RateLimitRequestType, RateLimitResponseType } from '../envoy/envoy-protos.js'
import { serveMethods } from './serve-methods.js'

/** What clients of reflection read, written apart from the code that is tested. */
const { root } = protobuf.parse(`
syntax = "proto3";
message Request {
  string host = 1;
  oneof ask { string file = 3; string symbol = 4; bytes extension = 5; string extensions = 6; string services = 7; }
}
message Response {
  string host = 1;
  Request original = 2;
  oneof answer { Files files = 4; Extensions extensions = 5; Services services = 6; Failure failure = 7; }
}
message Files { repeated bytes file = 1; }
message Extensions { string type = 1; repeated int32 number = 2; }
message Services { repeated Service service = 1; }
message Service { string name = 1; }
message Failure { int32 code = 1; string message = 2; }`)
const Request = root.lookupType('Request')
const Response = root.lookupType('Response')

let served: Awaited<ReturnType<typeof serveMethods>>
beforeEach(async () => {
  served = await serveMethods(reflectionMethods([...envoyProtoFiles, HEALTH_FILE]))
})
afterEach(() => served.close())

/** Asks on one call, and returns the answers. */
async function ask(version: string, ...questions: readonly object[]) {
  const stream = served.client.bidiStream(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`)
  const answers: Record<string, unknown>[] = []
  stream.on('data', (message: Buffer) => answers.push(Response.toObject(Response.decode(message))))
  for (const question of questions) stream.write(Buffer.from(Request.encode(Request.fromObject(question)).finish()))
  stream.end()
  await once(stream, 'end')
  return answers as {
    host?: string
    original?: object
    files?: { file: Uint8Array[] }
    extensions?: object
    services?: { service: { name: string }[] }
    failure?: { code: number; message: string }
  }[]
}

/** Builds the types that files declare, as a client such as grpcurl does. */
function rootOf(files: readonly Uint8Array[]): protobuf.Root {
  const file = files.map((bytes) => descriptors.FileDescriptorProto.decode(bytes))
  const built = (protobuf.Root as unknown as { fromDescriptor(set: object): protobuf.Root }).fromDescriptor({ file })
  return built.resolveAll() as protobuf.Root
}

it.each(['v1', 'v1alpha'])('a client of %s finds all services', async (version) => {
  const [answer] = await ask(version, { host: 'here', services: '*' })
  expect(answer.services?.service.map(({ name }) => name)).toEqual([
    'envoy.service.ratelimit.v3.RateLimitService',
    'grpc.health.v1.Health',
    'grpc.reflection.v1.ServerReflection',
    'grpc.reflection.v1alpha.ServerReflection',
  ])
  expect([answer.host, answer.original]).toEqual(['here', { host: 'here', services: '*' }])
})

it('the files of a symbol declare the protocol as it is', async () => {
  const [answer] = await ask('v1', { symbol: 'envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit' })
  const built = rootOf(answer.files?.file ?? [])
  const method = built.lookupService('envoy.service.ratelimit.v3.RateLimitService').methods.ShouldRateLimit
  for (const [theirs, ours] of [
    [RateLimitRequestType, method.resolvedRequestType],
    [RateLimitResponseType, method.resolvedResponseType],
  ] as const)
    expect(fieldsOf(ours as protobuf.Type)).toEqual(fieldsOf(theirs))
})

/** Every field of a message and of the messages in it, by name: number, type and whether there are many. */
function fieldsOf(type: protobuf.Type, seen = new Set<string>()): object {
  // A map is declared as a list of entries, and protobufjs knows it as a map.
  if (seen.has(type.fullName) || type.name === 'Struct') return { again: type.fullName }
  seen.add(type.fullName)
  return Object.fromEntries(
    type.fieldsArray
      .map((field) => field.resolve())
      .sort((a, b) => a.id - b.id)
      .map((field) => {
        const { id, resolvedType, repeated } = field
        const kind =
          resolvedType instanceof protobuf.Type
            ? fieldsOf(resolvedType, seen)
            : resolvedType instanceof protobuf.Enum
              ? { enum: resolvedType.fullName.replace('envoy.type.v3.', '') }
              : field.type
        return [protobuf.util.camelCase(field.name), { id, kind, isMany: repeated || field.map }]
      }),
  )
}

it('a file comes with those that it imports, and protobufjs reads each', async () => {
  const names = envoyProtoFiles.map(({ name }) => name)
  const more = ['grpc/health/v1/health.proto', 'google/protobuf/struct.proto', 'google/protobuf/wrappers.proto']
  const answers = await ask('v1alpha', ...[...names, ...more].map((file) => ({ file })))
  for (const { files } of answers) expect(rootOf(files?.file ?? []).nestedArray.length).toBeGreaterThan(0)
  const all = rootOf(answers[0].files?.file ?? [])
  expect(all.lookupType('google.protobuf.UInt64Value').fields.value.type).toBe('uint64')
  const health = rootOf(answers[names.length].files?.file ?? [])
  expect(health.lookupService('grpc.health.v1.Health').methods.Watch.responseStream).toBe(true)
})

it('the fields of a Struct are declared as a map', async () => {
  const [answer] = await ask('v1', { symbol: 'google.protobuf.Struct' })
  const file = descriptors.FileDescriptorProto.toObject(
    descriptors.FileDescriptorProto.decode(answer.files?.file[0] ?? Buffer.alloc(0)),
  )
  const [struct] = file.messageType as { field: object[]; nestedType: object[] }[]
  expect(struct.field).toMatchObject([{ name: 'fields', label: 3, typeName: '.google.protobuf.Struct.FieldsEntry' }])
  expect(struct.nestedType).toMatchObject([{ name: 'FieldsEntry', options: { mapEntry: true } }])
})

it('what does not exist is told, and the call goes on', async () => {
  const questions = [{ file: 'other.proto' }, { symbol: 'other.Symbol' }, { extension: Buffer.alloc(0) }, {}]
  const answers = await ask(
    'v1',
    ...questions,
    { extensions: 'other' },
    { extensions: 'grpc.health.v1.HealthCheckRequest' },
  )
  expect(answers.map(({ failure }) => failure)).toEqual([
    { code: 5, message: 'there is no file other.proto' },
    { code: 5, message: 'there is no symbol other.Symbol' },
    { code: 5, message: 'there is no extension' },
    { code: 3, message: 'the request asks for nothing' },
    { code: 5, message: 'there is no symbol other' },
    undefined,
  ])
  expect(answers[5].extensions).toEqual({ type: 'grpc.health.v1.HealthCheckRequest' })
})
