import type { ProtoFile } from './proto-file.js'

/** The protocol of reflection, which has the same messages in both versions. */
export const reflectionFiles: readonly ProtoFile[] = ['v1', 'v1alpha'].map((version) => {
  const packageName = `grpc.reflection.${version}`
  const own = (name: string) => `.${packageName}.${name}`
  return {
    name: `grpc/reflection/${version}/reflection.proto`,
    package: packageName,
    messages: {
      ServerReflectionRequest: {
        host: 'string 1',
        'message_request.file_by_filename': 'string 3',
        'message_request.file_containing_symbol': 'string 4',
        'message_request.file_containing_extension': `${own('ExtensionRequest')} 5`,
        'message_request.all_extension_numbers_of_type': 'string 6',
        'message_request.list_services': 'string 7',
      },
      ExtensionRequest: { containing_type: 'string 1', extension_number: 'int32 2' },
      ServerReflectionResponse: {
        valid_host: 'string 1',
        original_request: `${own('ServerReflectionRequest')} 2`,
        'message_response.file_descriptor_response': `${own('FileDescriptorResponse')} 4`,
        'message_response.all_extension_numbers_response': `${own('ExtensionNumberResponse')} 5`,
        'message_response.list_services_response': `${own('ListServiceResponse')} 6`,
        'message_response.error_response': `${own('ErrorResponse')} 7`,
      },
      FileDescriptorResponse: { file_descriptor_proto: 'repeated bytes 1' },
      ExtensionNumberResponse: { base_type_name: 'string 1', extension_number: 'repeated int32 2' },
      ListServiceResponse: { service: `repeated ${own('ServiceResponse')} 1` },
      ServiceResponse: { name: 'string 1' },
      ErrorResponse: { error_code: 'int32 1', error_message: 'string 2' },
    },
    services: {
      ServerReflection: {
        ServerReflectionInfo: {
          takes: own('ServerReflectionRequest'),
          gives: own('ServerReflectionResponse'),
          streams: 'both',
        },
      },
    },
  }
})
