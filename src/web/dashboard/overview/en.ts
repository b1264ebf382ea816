import type { OutcomeNames } from '../../shared/outcome-code.ts'

export const overview = {
  title: 'Overview',
  usedOf: (used: string, quota: string) => `Today: ${used} of ${quota} verifications.`,
  left: (left: string) => `${left} left until midnight UTC.`,
  usedUp: 'Used up until midnight UTC.',
  bothCount: 'Test and live count together.',
  chart: (days: number) => `The last ${days} days`,
  range: 'Range',
  days: (days: string) => `${days} days`,
  chartLabel: (total: string, most: string) =>
    `Outcomes per day: ${total} in total, ${most} on the busiest day. Arrow keys move between days, Enter opens the list of one.`,
  asTable: 'As a table',
  day: 'Day',
  counted: (names: OutcomeNames) =>
    `“${names.failed}” counts “${names.wallet_error}” and “${names.not_same_person}” too, “${names.expired}” counts “${names.redirect_not_followed}” and “${names.not_compared}”. “${names.cancelled}” is left out.`,
  successRate: 'Success rate',
  ofAllAsked: 'of all asked',
  about: (time: string) => `about ${time}`,
  byTemplate: 'By template',
  byTill: 'By till',
  template: 'Template',
  till: 'Till',
  byKeys: 'Your software',
  median: 'Median time to answer',
  reasons: 'Why verifications were refused',
  noReasons: (days: number) => `None was refused in the last ${days} days.`,
  reason: 'Reason',
  count: 'Verifications',
  firstSteps: {
    title: 'First steps',
    done: 'done',
    tried: {
      title: 'Try one in the sandbox',
      more: 'Start a test verification and answer it with the sandbox wallet. No real document is needed.',
      action: 'Try one',
    },
    paired: {
      title: 'Pair a till',
      more: 'A till asks customers at the counter.',
      action: 'Pair a till',
    },
    called: {
      title: 'Use the API',
      more: 'With a key your own software asks. A till or the API is enough.',
      action: 'Create a key',
    },
    received: {
      title: 'Receive a webhook',
      more: 'Set an address for this shop, and every result is sent there.',
      action: 'Set the address',
    },
    live: {
      title: 'Go live',
      more: 'See what is left before your first real customer.',
      action: 'Go live',
    },
  },
  attention: 'Needs your attention',
  calm: 'Nothing needs your attention.',
  health: 'Health of the installation',
  recent: 'Latest verifications',
  all: 'All verifications',
  emptyTitle: 'Ask for your first proof',
  empty:
    'A verification asks a customer’s wallet for exactly what you need, and tells you whether it holds. Try one here with the sandbox wallet, or make one from your own software.',
  attentions: {
    no_trust_anchors: {
      sentence: 'No issuers are trusted yet, so every live check will be refused.',
      action: 'Add an issuer',
    },
    trust_anchor_expires: {
      sentence: (label: string, when: string) =>
        `The issuer certificate “${label}” ends ${when}. After that its documents are refused.`,
      action: 'See the issuers',
    },
    trust_list_stale: {
      sentence: (label: string, when: string) => `The list “${label}” is out of date. Its issuers count until ${when}.`,
      action: 'See the list',
    },
    trust_list_ended: {
      sentence: (label: string) => `The list “${label}” has ended. Documents of its issuers are refused.`,
      action: 'See the list',
    },
    trust_list_refused: {
      sentence: (label: string, when: string) => `No new issue of the list “${label}” could be taken since ${when}.`,
      action: 'See the list',
    },
    trust_signer_changed: {
      sentence: (label: string) => `The list “${label}” has a new signer. Compare it, and confirm it if it is right.`,
      action: 'See the list',
    },
    certificate_self_made: {
      sentence: 'Wallets see a certificate that this service made for itself. Most wallets for the public refuse it.',
      action: 'Get a certificate',
    },
    certificate_expires: {
      sentence: (when: string) => `The certificate that wallets see ends ${when}. After that no wallet answers.`,
      action: 'Renew it',
    },
    registration_ends: {
      sentence: (label: string, when: string) =>
        `The registration certificate “${label}” ends ${when}. Wallets will warn after that.`,
      action: 'Replace it',
    },
    quota_nearly_used: {
      sentence: (used: string, quota: string) => `${used} of today’s ${quota} verifications are used.`,
      action: 'See the quota',
    },
    public_url_not_https: {
      sentence: (url: string) => `The public address ${url} is not https. Most wallets refuse it.`,
      action: 'See the installation',
    },
    public_url_local: {
      sentence: (url: string) => `Phones cannot reach ${url}: it is a name of this machine only.`,
      action: 'See the installation',
    },
    token_copied: {
      sentence: (name: string, when: string) =>
        `A copied token of the till “${name}” was used ${when}, so the till was revoked. Pair it again.`,
      action: 'See the tills',
    },
    pairing_lapsed: {
      sentence: (name: string) => `The till “${name}” was never paired, and its code has run out.`,
      action: 'See the tills',
    },
    webhook_failing: {
      sentence: (origin: string, { failed, waiting }: { failed: number; waiting: number }) => {
        const parts = [
          failed > 0 && `${failed} failed`,
          waiting > 0 && (waiting === 1 ? '1 is being retried' : `${waiting} are being retried`),
        ]
        return `${origin} is not accepting events. ${parts.filter(Boolean).join(', ')}.`
      },
      action: 'See the deliveries',
    },
  },
}
