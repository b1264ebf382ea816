/** The pages of a log-in that stay here: the way back to the program, and refusals. */
export const login = {
  returning: 'You are being logged in.',
  returningMore: 'In a moment you are back where you came from.',
  goOn: 'Continue',
  lost: 'This log-in was begun in another browser.',
  lostMore: 'Or it has ended. Go back to where you wanted to log in, or begin again there.',
  failed: 'The service did not answer.',
  failedMore: 'Check the network, and try again.',
  again: 'Try again',
  refused: {
    unknown_client: {
      title: 'This log-in does not work.',
      more: 'The program that sent you here is not known to this service. Only those who run it can mend that (unknown_client).',
    },
    redirect_uri_mismatch: {
      title: 'This log-in does not work.',
      more: 'The program that sent you here wants you back at an address that is not registered. Only those who run it can mend that (redirect_uri_mismatch).',
    },
    rate_limit_exceeded: {
      title: 'Too many log-ins begin here at once.',
      more: 'Wait a moment, go back to where you wanted to log in, and try again (rate_limit_exceeded).',
    },
  },
}
