/** Addresses of the lists of revoked documents and of revoked issuers. */
export const statusListUri = (publicUrl: string): string => `${publicUrl}/sandbox/status-list`
export const crlUri = (publicUrl: string): string => `${publicUrl}/sandbox/crl`
