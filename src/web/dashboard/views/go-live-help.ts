import type { StepName } from '../../../dashboard/go-live-schema.ts'

/** The section of the README that explains a step. */
export const HELP: Readonly<Record<StepName, string>> = {
  address: 'Install it',
  identity: 'Go live',
  registration: 'Go live',
  issuers_test: 'Go live',
  first_test: 'A first verification',
  issuers_live: 'Go live',
  keys: 'Commands',
  first_live: 'A first verification',
  renewals: 'Go live',
}
