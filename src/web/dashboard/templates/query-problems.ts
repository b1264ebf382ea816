// Problems of a query and its rules come from the server in English, as the API words them: here they are in German.

/** `$1` is what the English sentence has in the first parentheses. */
const GERMAN: readonly (readonly [english: RegExp, german: string])[] = [
  [
    /^The query must be an object with a `credentials` array\.$/,
    'Die Abfrage muss ein Objekt mit einer Liste `credentials` sein.',
  ],
  [
    /^Only "aki" is enforced here: .*$/,
    'Nur „aki“ wird hier durchgesetzt: Nennen Sie die Schlüsselkennungen der Stellen, oder lassen Sie `trusted_authorities` weg und vertrauen Sie Ausstellern mit „vidimus trust add“.',
  ],
  [
    /^The holder always has to prove that the credential is theirs; .*$/,
    'Die Person muss immer belegen, dass der Ausweis ihr gehört; lassen Sie es weg, oder setzen Sie true.',
  ],
  [
    /^The member (.+) is unknown and wallets would skip it; write `(.+)`\.$/,
    'Das Feld $1 ist unbekannt, Wallets würden es übergehen; schreiben Sie `$2`.',
  ],
  [
    /^A credential query must be an object with `id`, `format` and `meta`\.$/,
    'Jeder Eintrag muss ein Objekt mit `id`, `format` und `meta` sein.',
  ],
  [
    /^An id must be 1 to (.+) characters out of A-Z, a-z, 0-9, "_" and "-"\.$/,
    'Eine id hat 1 bis $1 Zeichen aus A-Z, a-z, 0-9, „_“ und „-“.',
  ],
  [
    /^The format "vc\+sd-jwt" is a draft name; write "dc\+sd-jwt"\.$/,
    'Das Format „vc+sd-jwt“ ist der Name eines Entwurfs; schreiben Sie „dc+sd-jwt“.',
  ],
  [
    /^The format must be "dc\+sd-jwt" or "mso_mdoc", the only two supported, not (.+)\.$/,
    'Das Format muss „dc+sd-jwt“ oder „mso_mdoc“ sein, andere werden nicht unterstützt, auch nicht $1.',
  ],
  [
    /^The format must be "dc\+sd-jwt" or "mso_mdoc", the only two supported\.$/,
    'Das Format muss „dc+sd-jwt“ oder „mso_mdoc“ sein, andere werden nicht unterstützt.',
  ],
  [
    /^The `meta` of an? (.+) query must be an object with `(.+)`\.$/,
    'Das Feld `meta` eines Eintrags mit Format $1 muss ein Objekt mit `$2` sein.',
  ],
  [/^The value must be true or false, without quotes\.$/, 'Der Wert muss true oder false sein, ohne Anführungszeichen.'],
  [
    /^A trusted authority must be an object with `type` and `values`\.$/,
    'Eine vertraute Stelle muss ein Objekt mit `type` und `values` sein.',
  ],
  [
    /^The type must be "aki", "etsi_tl" or "openid_federation", .*$/,
    'Der Typ muss „aki“, „etsi_tl“ oder „openid_federation“ sein; andere kennt DCQL 1.0 nicht.',
  ],
  [
    /^An "aki" value must be a key identifier in base64url without padding, up to (.+) characters\.$/,
    'Ein Wert zu „aki“ muss eine Schlüsselkennung in base64url ohne Füllzeichen sein, mit höchstens $1 Zeichen.',
  ],
  [/^A claim must be an object with `path`\.$/, 'Eine Angabe muss ein Objekt mit `path` sein.'],
  [
    /^Every claim needs an id when there are `claim_sets`; add one\.$/,
    'Mit `claim_sets` braucht jede Angabe eine id; ergänzen Sie eine.',
  ],
  [
    /^An mso_mdoc path must be exactly two strings of 1 to (.+) characters: .*$/,
    'Ein Pfad für mso_mdoc besteht aus genau zwei Texten von 1 bis $1 Zeichen: Namensraum und Element.',
  ],
  [
    /^A path element must be a name of up to (.+) characters, a whole number from 0, or null for all\.$/,
    'Ein Pfadteil muss ein Name von höchstens $1 Zeichen sein, eine ganze Zahl ab 0, oder null für alle.',
  ],
  [
    /^A path must begin with the name of a claim, or no credential can match it\.$/,
    'Ein Pfad muss mit dem Namen einer Angabe beginnen, sonst passt kein Ausweis.',
  ],
  [
    /^A value must be a string of up to (.+) characters, a whole number, true or false\.$/,
    'Ein Wert muss ein Text von höchstens $1 Zeichen sein, eine ganze Zahl, true oder false.',
  ],
  [
    /^An earlier claim has the same path; ask for each claim once\.$/,
    'Dieser Pfad steht schon weiter oben; fragen Sie jede Angabe nur einmal ab.',
  ],
  [
    /^`claim_sets` choose among `claims`; .*$/,
    '`claim_sets` wählen aus `claims` aus; ergänzen Sie `claims`, oder lassen Sie `claim_sets` weg.',
  ],
  [/^A credential set must be an object with `options`\.$/, 'Eine Auswahl muss ein Objekt mit `options` sein.'],
  [
    /^A purpose must be a string of 1 to (.+) characters, or be left out\.$/,
    'Ein Zweck muss ein Text von 1 bis $1 Zeichen sein oder fehlen.',
  ],
  [/^No .+ of this query has the id this; name one that is there\.$/, 'Hier gehört die id eines Eintrags dieser Abfrage hin.'],
  [
    /^No .+ of this query has the id (.+); name one that is there\.$/,
    'Nichts in dieser Abfrage hat die id $1; nennen Sie eine, die es gibt.',
  ],
  [
    /^This must be an array of 1 to (\S+) .+, and it has (.+)\.$/,
    'Dies muss eine Liste mit 1 bis $1 Einträgen sein, und sie hat $2.',
  ],
  [/^This must be an array of 1 to (\S+) .+\.$/, 'Dies muss eine Liste mit 1 bis $1 Einträgen sein.'],
  [/^The id (.+) is taken by an earlier one; choose another\.$/, 'Die id $1 steht schon weiter oben; wählen Sie eine andere.'],
  [
    /^Rules must be an array of up to (.+) rules; .*$/,
    'Regeln müssen eine Liste von höchstens $1 Regeln sein; [] für keine, null für die üblichen.',
  ],
  [
    /^A query may have (.+) values in all, and this one has (.+); leave some out\.$/,
    'Eine Abfrage darf insgesamt $1 Werte haben, und diese hat $2; lassen Sie einige weg.',
  ],
  [/^There are more than (.+) rules; leave some out\.$/, 'Es sind mehr als $1 Regeln; lassen Sie einige weg.'],
  [
    /^The query asks for more than (.+) ages, .*$/,
    'Die Abfrage fragt nach mehr als $1 Altersgrenzen, die alle erreicht sein müssten; geben Sie Regeln an.',
  ],
  [/^A rule is one of (.+)\.$/, 'Eine Regel sieht so aus: $1.'],
  [/^Write it like (.+); .*$/, 'Schreiben Sie sie so: $1.'],
  [
    /^The query never delivers (.+) as a merged claim; a rule can be on (.+?)\.(?: Without rules .*)?$/,
    'Die Abfrage liefert $1 nie; eine Regel kann sich beziehen auf: $2.',
  ],
  [
    /^The query never delivers (.+) as a merged claim; .*$/,
    'Die Abfrage liefert $1 nie, und auch sonst nichts, worauf sich eine Regel beziehen kann.',
  ],
  [/^.+ must be a string of 1 to (.+) characters\.$/, 'Dies muss ein Text von 1 bis $1 Zeichen sein.'],
]

/** A sentence that is not known stays as it is. */
export function germanProblem(sentence: string): string {
  const [english, german] = GERMAN.find(([pattern]) => pattern.test(sentence)) ?? []
  return english && german ? sentence.replace(english, german) : sentence
}
