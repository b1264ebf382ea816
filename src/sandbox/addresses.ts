/** Addresses of the lists of revoked documents, by index and by identifier, and of revoked issuers. */
export const statusListUri = (publicUrl: string): string => `${publicUrl}/sandbox/status-list`
export const identifierListUri = (publicUrl: string): string => `${publicUrl}/sandbox/identifier-list`
export const crlUri = (publicUrl: string): string => `${publicUrl}/sandbox/crl`
