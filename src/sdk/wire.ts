// Types of the API, from the schemas of the service: types only, so the client carries no code of
// it. scripts/build/sdk.ts writes them out for the published package.
import type { Device, RegisterDevice, RegisteredDevice as RegisteredDeviceShape, TokenPair } from '../devices/schema.ts'
import type { ErrorCode } from '../http/errors.ts'
import type { Rule as RuleShape, Template } from '../templates/schema.ts'
import type { Usage } from '../usage/schema.ts'
import type { DcAnswered, DcRequests, ServerRequest } from '../verifications/exchange/dc-schema.ts'
import type {
  Comparison,
  CreateVerification,
  CredentialResult,
  ErasureResult,
  Finding as FindingShape,
  ListQuery as ListQueryShape,
  Verification,
  VerificationStatus as VerificationStatusShape,
} from '../verifications/schema.ts'

export type {
  Comparison,
  CreateVerification,
  CredentialResult,
  DcAnswered,
  DcRequests,
  Device,
  ErasureResult,
  ErrorCode,
  RegisterDevice,
  Template,
  TokenPair,
  Usage,
  Verification,
}
export type DcServerRequest = typeof ServerRequest.static
export type Finding = typeof FindingShape.static
export type ListQuery = typeof ListQueryShape.static
export type RegisteredDevice = typeof RegisteredDeviceShape.static
export type Rule = typeof RuleShape.static
export type VerificationStatus = typeof VerificationStatusShape.static
