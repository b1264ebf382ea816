export const health = {
  title: 'Health',
  more: 'What would stop a real wallet or webhook, and what endangers your data. The command “vidimus doctor” reports the same.',
  again: 'Check again',
  help: 'More in the handbook',
  looking: 'Looking',
  checked: 'Checked',
  fine: (count: number) => `${count} in order`,
  found: (problems: number, warnings: number, missing: number) => {
    if (problems + warnings + missing === 0) return 'Everything is in order.'
    const notSetUp = missing === 1 ? 'One thing is not set up.' : `${missing} things are not set up.`
    if (problems + warnings === 0) return `Nothing is wrong. ${notSetUp}`
    const parts = [
      problems > 0 && (problems === 1 ? '1 problem' : `${problems} problems`),
      warnings > 0 && (warnings === 1 ? '1 warning' : `${warnings} warnings`),
    ]
    return `${parts.filter(Boolean).join(', ')}.`
  },
  eu: {
    title: 'EU wallets',
    more: (shop: string) =>
      `What EU wallets must and should find in the requests of ${shop}. They are made for this and judged, and nothing is stored or sent.`,
    statuses: { pass: 'Holds', fail: 'Fails', not_applicable: 'Not needed', unknown: 'Unknown' },
    levels: { must: 'must', should: 'should' },
    check: 'Check the requests',
  },
  statuses: { not_set_up: 'Not set up', ok: 'In order', warning: 'Warning', problem: 'Problem' },
  names: {
    server: 'Service',
    public_url: 'Public address',
    tls: 'Certificate of the public address',
    client_id: 'Name that wallets see',
    signing_certificate: 'Certificate that wallets see',
    registration: 'Registration certificates',
    dc_api: 'Wallets through the browser',
    in_person: 'Phones in person',
    openid_provider: 'Log-ins',
    trust_anchors: 'Trusted issuers',
    trust_lists: 'Trust lists',
    status_lists: 'Status lists of issuers',
    webhooks: 'Receivers of webhooks',
    clock: 'Clock',
    database: 'Database',
    master_key: 'Master key',
    wrapping_keys: 'Wrapping keys',
    disk: 'Room on the disk',
    backups: 'Backups',
    open_files: 'Connections at once',
    second_factor: 'Second factor of owners',
    extra_ca: 'Additional authorities',
    mail: 'Mail to owners',
  },
}
