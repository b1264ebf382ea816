import type { StepName } from '../../../dashboard/go-live/schema.ts'
import type { DocumentKind } from '../../../tenants/go-live.ts'

/** Parts of a sentence, in the reader's language. */
type Named = { documents: string; names: string; when: string }

export const goLive = {
  title: 'Go live',
  intro: 'What is left before your first real customer. The service checks every step itself.',
  question: 'Where is your shop, and what must customers prove?',
  questionMore: 'Choose all that you want to accept. You can change it at any time.',
  regions: {
    eu: 'European Union',
    us: 'United States',
    ch: 'Switzerland',
    elsewhere: 'Elsewhere',
  },
  swiss: 'The Swiss wallet swiyu cannot be connected today: this service does not speak its protocol of trust yet.',
  documents: {
    eu_age: { title: 'EU age app', hint: 'Proves an age and nothing else. Shops need no registration.' },
    eu_wallet: { title: 'EU wallet', hint: 'Identity data (PID). You register in your country first; that takes days.' },
    us_licence: { title: 'US driving licence', hint: 'Mobile licences of the states.' },
    other: { title: 'Something else', hint: 'Documents of other issuers, whose certificates you add yourself.' },
  },
  show: 'Show the steps',
  missing: 'Choose at least one.',
  accepts: 'You want to accept',
  change: 'Change',
  progress: (done: number, all: number) => `${done} of ${all} steps are done.`,
  allDone: 'You are live. This page keeps watching your certificates and lists.',
  stepsLabel: 'Steps to go live',
  states: { done: 'Done', to_do: 'To do', waiting: 'Waiting', not_needed: 'Not needed', problem: 'Problem' },
  owner: 'An owner of this installation does this.',
  purposes: {
    caption: 'Purposes of templates',
    more: 'Wallets show both purposes. They should say the same.',
    template: 'Template',
    own: 'Your purpose',
    registered: 'Registered purpose',
    each: 'As each creation says',
  },
  help: 'More in the handbook',
  retention: {
    days: 'Days to keep',
    hint: 'After the end of a verification. Then it is erased for good by itself; counts stay.',
    problem: 'A whole number from 0 to 3,650.',
    keep: (days: string) => (days === '1' ? 'Keep one day' : `Keep ${days} days`),
    forever: 'Keep until somebody erases them',
  },
  authoritiesRead: 'As read in November 2026. Look there for what has changed since.',
  authorities: {
    identity: {
      eu_wallet: {
        text: 'An access certificate. The access authority of your country issues it, once you are registered there: upload the request from the next page at its portal. The Commission lists these authorities:',
        link: 'https://trust.tech.ec.europa.eu/lists/eudiw/wrpac-providers.json',
      },
      us_licence: {
        text: 'Each wallet decides whose certificate it accepts: ask its maker. Apple wants a merchant certificate of its own.',
      },
      other: { text: 'Ask the maker of the wallets which authorities they accept.' },
    },
    registration: {
      eu_wallet: {
        text: 'The registrar of your country, which also leads to the access certificate. It issues one registration for each use. For trials, the German sandbox:',
        link: 'https://bmi.usercontent.opencode.de/eudi-wallet',
      },
    },
    issuers_test: {
      eu_age: { text: 'The European Commission’s trial list of age proofs. Nothing to apply for.' },
      eu_wallet: { text: 'The European Commission’s trial list of identity issuers (PID). Nothing to apply for.' },
      us_licence: { text: 'There is no trial list: add the certificate of the state whose test licence you have.' },
      other: { text: 'The issuer itself publishes its certificate.' },
    },
    issuers_live: {
      eu_age: {
        text: 'The European Commission’s list of age proofs. Nothing to apply for. Compare its signer at',
        link: 'https://eidas.ec.europa.eu/efda',
      },
      eu_wallet: {
        text: 'The European Commission’s list of identity issuers (PID). Nothing to apply for. Compare its signer at',
        link: 'https://eidas.ec.europa.eu/efda',
      },
      us_licence: {
        text: 'AAMVA, the motor vehicle administrators’ association: read its terms first. States that are not on its list publish their own certificate.',
        link: 'https://vical.dts.aamva.org',
      },
      other: { text: 'The issuer itself publishes its certificate.' },
    },
  } as Partial<Record<StepName, Partial<Record<DocumentKind, { text: string; link?: string }>>>>,
  steps: {
    address: { title: 'Phones reach this service', action: 'See the checks', done: 'See the checks' },
    identity: { title: 'A certificate that wallets trust', action: 'Get a certificate', done: 'See the certificate' },
    registration: { title: 'Registration of what you ask for', action: 'Add a registration', done: 'See the registrations' },
    issuers_test: { title: 'Issuers in Test', action: 'Add issuers in Test', done: 'See the issuers in Test' },
    first_test: { title: 'First test with a real wallet', action: 'Start a test', done: 'See test verifications' },
    issuers_live: { title: 'Issuers in Live', action: 'Add issuers in Live', done: 'See the issuers in Live' },
    eu_profile: { title: 'Requests that EU wallets take', action: 'See the clauses', done: 'See the clauses' },
    keys: { title: 'A live key or till', action: 'Create a live key', done: 'See the live keys' },
    first_live: { title: 'First live verification', action: 'See live verifications', done: 'See live verifications' },
    renewals: { title: 'Renewals', action: 'See the checks', done: 'See the checks' },
    retention: { title: 'How long do you keep results?', action: 'Choose', done: 'See the retention' },
  },
  reasons: {
    reached: ({ names }: Named) => `Phones reach ${names} over https.`,
    address_local: ({ names }: Named) =>
      `No phone can reach ${names}: it is a name of this machine only. Give the service a public name with https, and set VIDIMUS_PUBLIC_URL to it.`,
    address_plain: ({ names }: Named) =>
      `${names} is plain http, which most wallets refuse. Put a TLS proxy in front of it, or set VIDIMUS_TLS_CERT.`,
    address_unsound: ({ names }: Named) => `${names} does not work for phones yet.`,
    identity_not_needed: () => 'The EU age app asks shops for no certificate.',
    identity_valid: ({ names, when }: Named) => `Wallets see a certificate by ${names}, valid until ${when}.`,
    identity_self_made: () =>
      'Wallets see a certificate that this service made for itself. Make a request, send it to an authority that your wallets trust, and install its answer.',
    identity_requested: ({ when }: Named) =>
      `You made a request on ${when}. Install the certificate when the authority sends it.`,
    identity_scheduled: ({ names, when }: Named) => `The certificate by ${names} takes over on ${when}.`,
    identity_unsound: () => 'Wallets refuse the certificate that they see.',
    registration_not_needed: () => 'Only EU wallets ask for a registration.',
    registered: () => 'Everything you ask EU wallets for is registered.',
    registration_missing: () =>
      'EU wallets warn their users about shops that ask for more than they registered. Register what you ask for in your country, and add the certificate you get.',
    registration_beyond: ({ names }: Named) =>
      `Wallets will warn that these templates ask for more than you registered: ${names}.`,
    registration_unsound: () =>
      'Your registration certificate has ended, or is of another organisation than the certificate that wallets see.',
    issuers_named: ({ documents }: Named) => `You trust issuers for: ${documents}.`,
    issuers_missing: ({ documents }: Named) => `You trust no issuer yet for: ${documents}.`,
    issuers_ended: ({ names }: Named) => `The list “${names}” has ended, so its issuers no longer count.`,
    eu_profile_not_needed: () => 'Only EU wallets judge requests by this.',
    eu_profile_failing: ({ names }: Named) => `EU wallets may refuse your requests because of: ${names}.`,
    eu_profile_holds: () => 'Your requests have all that EU wallets must find in them.',
    tested: ({ when }: Named) => `A document of a real issuer was verified in Test on ${when}.`,
    not_tested: () => 'Start a verification in Test, and answer it with a wallet that has a document of one of your issuers.',
    may_ask: ({ names }: Named) => `Can ask customers in Live: ${names}.`,
    no_key: () => 'Create a live key for your software, or pair a till in Live.',
    went_live: ({ when }: Named) => `The first live verification was completed on ${when}.`,
    not_live: () => 'Ask the first customer, or try it with a document of your own.',
    renewals_later: () => 'Nothing to renew yet. Lists and certificates are watched from the first live issuer on.',
    renewals_fine: () => 'Nothing ends within 30 days.',
    ends_soon: ({ names, when }: Named) => `“${names}” ends on ${when}. Renew it before.`,
    has_ended: ({ names, when }: Named) => `“${names}” ended on ${when}.`,
    list_failing: ({ names, when }: Named) => `The list “${names}” has not been updated since ${when}.`,
    kept_days: ({ names }: Named) => `Results are erased ${names} days after they end.`,
    kept_until_erased: () => 'Results are kept until somebody erases them.',
    retention_open: () =>
      'Today results stay for ever. Keep personal data only as long as you need it: 30 days are enough for most shops.',
  },
}
