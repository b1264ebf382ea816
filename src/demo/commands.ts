/** The page's steps as a merchant's server would do them; made to run in one shell, in order. */
export function demoCommands(publicUrl: string, key: string): string[] {
  const url = `${publicUrl}/v1/verifications`
  const auth = `-H "Authorization: Bearer ${key}"`
  const create = `curl -s ${url} ${auth} -H "Content-Type: application/json" -d '{"template":"age_over_18"}'`
  return [
    `ID=$(${create} | grep -o 'vs_[A-Za-z0-9]*' | head -n 1); echo "Answer it here: ${publicUrl}/v/$ID"`,
    `curl -s -w '\\n' ${url}/$ID/status`,
    `curl -s -w '\\n' ${url}/$ID ${auth}`,
    `curl -s -w '\\n' -X DELETE ${url}/$ID ${auth}`,
  ]
}
