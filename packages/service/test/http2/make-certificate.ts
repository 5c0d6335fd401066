import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** Certificates for tests, in DER by hand: Node.js reads X.509 and does not write it. */
export interface Certificate {
  readonly name: string
  readonly cert: string
  readonly key: string
  readonly privateKey: KeyObject
}

const ECDSA_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]
const COMMON_NAME = [0x55, 0x04, 0x03]
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13]
const SUBJECT_ALT_NAME = [0x55, 0x1d, 0x11]

/** A certificate for 127.0.0.1 and localhost, signed by `issuer`, or by itself as an authority. */
export function makeCertificate(name: string, issuer?: Certificate): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid(ECDSA_SHA256))
  const extensions = [
    sequence(
      oid(BASIC_CONSTRAINTS),
      octets(issuer === undefined ? sequence(tlv(0x01, Buffer.from([0xff]))) : sequence()),
    ),
    sequence(
      oid(SUBJECT_ALT_NAME),
      octets(sequence(tlv(0x82, Buffer.from('localhost')), tlv(0x87, Buffer.from([127, 0, 0, 1])))),
    ),
  ]
  const signed = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.from([1, ...Buffer.from(name).subarray(0, 8)])),
    algorithm,
    distinguishedName(issuer?.name ?? name),
    sequence(time('20200101000000Z'), time('21000101000000Z')),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', signed, issuer?.privateKey ?? privateKey)
  const der = sequence(signed, algorithm, tlv(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return {
    name,
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    privateKey,
  }
}

function tlv(tag: number, content: Uint8Array): Buffer {
  const { length } = content
  const head =
    length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(head), content])
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tlv(0x30, Buffer.concat(parts))
}

function oid(bytes: readonly number[]): Buffer {
  return tlv(0x06, Buffer.from(bytes))
}

function octets(content: Uint8Array): Buffer {
  return tlv(0x04, content)
}

function time(text: string): Buffer {
  return tlv(0x18, Buffer.from(text))
}

function distinguishedName(name: string): Buffer {
  return sequence(tlv(0x31, sequence(oid(COMMON_NAME), tlv(0x0c, Buffer.from(name)))))
}
