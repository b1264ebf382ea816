import type { StepName } from '../../../dashboard/go-live/schema.ts'

/** The section of the handbook that explains a step. */
export const HELP: Readonly<Record<StepName, string>> = {
  address: 'tls',
  identity: 'going-live#the-certificate-wallets-see',
  registration: 'going-live#registration',
  issuers_test: 'trust',
  first_test: 'going-live#what-your-documents-need',
  issuers_live: 'trust',
  eu_profile: 'doctor#eu-wallets',
  keys: 'going-live#switch-to-live',
  first_live: 'going-live#switch-to-live',
  renewals: 'going-live#the-steps',
  retention: 'privacy',
}
