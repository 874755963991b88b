package secret_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/secret"
)

const (
	github = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	openai = "sk-proj-Ab3dEf6hIj9kLmN0pQrStUv2xYz4567890aBcDeF"
	slack  = "xoxb-2444333222111-2444333222111-AbCdEfGhIjKlMnOpQrStUvWx"
	aws    = "wJalrXUtnFEMI0K7MDENG0bPxRfiCYzEXAMPLEKEY"
	web    = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJleGFtcGxlIn0.dBjftJeZ4CVPmB92K27uhbUJU1p1r_wW1g"
	word   = "Tr0ub4dor_and_3_horses"
	pem    = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nq83vEjRWeJASNFY=\n-----END RSA PRIVATE KEY-----"
)

// A string of JSON is masked by what it says, however it is written.
func TestMaskOfEscapes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"x":"\u003cpassword\u003e~\u003c/password\u003e"}`:      `{"x":"<password>…</password>"}`,
		`["https://b.example/k?a\u0026X-Amz-Signature=~\u0026x"]`: `["https://b.example/k?a&X-Amz-Signature=…&x"]`,
		`{"x":"a\u0026b \"y\""}`:                                  `{"x":"a\u0026b \"y\""}`,
	} {
		assert.Equal(t, want, secret.Mask(strings.ReplaceAll(in, "~", github)))
	}
}

// In each form of a credential only its place stays. A ~ in a text stands for the credential.
func TestMask(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ form, text, credential string }{
		{"a line of a list of settings, in a string of JSON", `{"cmd":"kind: Secret\nstringData:\n  conn: ~\n"}`, word},
		{"a token of letters alone", "got ~", "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"},
		{"what a plan changes", "db_password = \"(known)\" -> \"~\"", word},
		{"behind a sentence", "error: cannot use password: ~", "hunter2"},
		{"a Secret in one line", `{"apiVersion":"v1","data":{"conn":"~"},"kind":"Secret"}`, "Y29ycmVjdC1ob3JzZQ=="},
		{"a patch of a Secret", `kubectl patch secret x -p '{"data":{"conn":"~"}}'`, "Y29ycmVjdC1ob3JzZQ=="},
		{"literals of a Secret", `kubectl create secret generic x --from-literal=conn=~`, word},
		{"an output of Terraform", `{"db_password":{"sensitive":true,"value":"~"}}`, word},
		{"an address of MySQL in Go", "app:~@tcp(db:3306)/app", word},
		{"an address of Oracle", "jdbc:oracle:thin:scott/~@db:1521:orcl", word},
		{"a login of Docker in base64", ".dockerconfigjson: ~", "eyJhdXRocyI6eyJnaGNyLmlvIjp7ImF1dGgiOiJZbTlp"},
		{"define of PHP, with a blank", "define( 'DB_PASSWORD', '~' );", word},
		{"a line of its own, told above", "use this password to go on:\n\n~\n", "9f86d081884c7d659a2feaa0c55ad015"},
		{"SQL, for a user", "SET PASSWORD FOR 'me'@'%' = '~'", word},
		{"the value of a secret", "gh secret set NAME --body ~", word},
		{"what a secret is made of", "printf ~ | gcloud secrets create x --data-file=-", word},
		{"an encrypted web token", "x ~ y", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..Zk8vQ2mW7pLx4RtB.Zk8vQ2mW7pLx4RtB"},
		{"the last word of a command", "htpasswd -bB /etc/.htpasswd bob ~", word},
		{"a login by a token", "vault login ~", "Zk8vQ2mW7pLx4RtB9nYcabcd"},
		{"--pass", "redis-cli --pass ~ keys", word},
		{"a command that an error quotes", "sh: aws configure set aws_secret_access_key ~: denied", aws},
		// by the name in front of it
		{"an environment", "HOME=/home/app\nDB_PASSWORD=~\nLANG=C", word},
		{"an environment, any characters", "DB_PASSWORD=~\nLANG=C", `a,b;c&d)e|f`},
		{"an environment, letters alone", "DB_PASSWORD=~\n", "correcthorse"},
		{"an environment, AWS", "AWS_SECRET_ACCESS_KEY=~\n", aws},
		{"an environment, numbered", "GITHUB_TOKEN_2=~\n", "0123abcd"},
		{"an environment of one word", "PGPASSWORD=~ psql -h db", "abc123"},
		{"exported in quotes", `export API_KEY="~"`, "with blanks in it"},
		{"in an argument", `{"command":"export TOKEN=~\nmake"}`, "abc123def"},
		{"JSON", `{"user":"app","password":"~","port":5432}`, word},
		{"JSON, camel case", `{"accessToken": "~"}`, "abcdefgh"},
		{"JSON, a key", `{"apiKey": "~"}`, "0123456789abcdef0123456789abcdef"},
		{"JSON in JSON", `{"body":"{\"client_secret\": \"~\", \"id\": 1}"}`, word},
		{"a key of an unknown kind", `{"key": "~"}`, "q7Xc2PmZ81LwTr94VbNs"},
		{"YAML", "db:\n  user: app\n  password: ~\n", "hunter2"},
		{"YAML, letters alone", "  password: ~\n  port: 1", "correcthorse"},
		{"a short name", "DB_PASS=~\n", "hunter2"},
		{"ini", "secret = ~\n", "hunter2000"},
		{"code", `const password = "~";`, "correct horse"},
		{"code, Ruby", `:password => '~',`, "horse"},
		{"code, by an index", `os.environ["API_TOKEN"] = "~"`, "horses"},
		{"a header", "Authorization: Bearer ~", "abcdef0123456789"},
		{"a header of curl", "curl -H 'Authorization: Bearer ~' https://x", github},
		{"a header, another scheme", "authorization: Basic ~\nAccept: */*", "dXNlcjpwYXNzd29yZA=="},
		{"a header of its own", `-H "X-Api-Key: ~" -s`, "0a1b2c3d4e"},
		{"a header with several values", "Cookie: ~\nHost: x", "session=abc; id=12"},
		{"a header in JSON", `{"Authorization":"Bearer ~"}`, web},
		{"a scheme without a header", "sent Bearer ~ to it", "abcdef0123456789"},
		{"a flag", "login --password ~ --user app", "horses"},
		{"a flag with a sign", "login --token=~ -v", "abc123abc"},
		{"a flag of curl", "curl -u app:~ https://x", "horses"},
		{"a query", "GET /v1?access_token=~&page=2", "abc123abc"},
		{"a connection", "host=db password=~ port=1", "correcthorse"},
		{"npm", "//registry.npmjs.org/:_authToken=~\n", "horse-battery"},
		{"a query, a signature", "https://a.blob.example/f?sv=2020&sig=~&se=2026", "Zm9vYmFyYmF6cXV4Q2F0cw%3D"},
		{"a connection of .NET", "Server=db;Uid=sa;Pwd=~;Encrypt=true", "Sup3rS3cret"},
		{"a setting with a name of its own", "AIRFLOW__CORE__FERNET_KEY=~\n", "abcd1234abcd="},
		{"XML", "<server><password>~</password></server>", word},
		{"a short flag behind a user", "docker login -u me -p ~ registry.example", "Sup3rS3cret"},
		{"a short flag without a blank", "mysql -h db -u root -p~ orders", "Sup3rS3cret"},
		{"a program that gives a password", "sshpass -p ~ ssh root@host", "horses"},
		// by a name that stands apart from it
		{"two words", "API key: ~", "9f86d081884c7d659a2feaa0c55ad015"},
		{"a typed variable", `let apiToken: String = "~"`, "correcthorse"},
		{"an array of C", `char password[] = "~";`, "correcthorse"},
		{"bytes", `var secretKey = []byte("~")`, "correcthorse"},
		{"a file of settings", "[client]\nuser = root\npassword = ~\n", "correcthorse"},
		{"a path of settings", "spring.datasource.password = ~\n", "correcthorse"},
		{"a connection of .NET, with blanks", "Server=x;Password=~;Encrypt=true", "p@ss w0rd"},
		{"a value that is not set", "${DB_PASSWORD:-~}", "hunter2"},
		{"a value of JavaScript that is not set", "process.env.API_TOKEN || '~'", "correcthorse"},
		{"a block of YAML", "password: |\n  ~\nnext: 1", "correct horse"},
		{"an entry of YAML", "- name: DB_PASSWORD\n  value: ~\n", "correcthorse"},
		{"an entry of JSON", `{"name": "DB_PASSWORD", "value": "~"}`, "correcthorse"},
		{"an entry of XML", `<add key="ApiToken" value="~" />`, "correcthorse"},
		{"an attribute of XML", `<entry key="apiToken">~</entry>`, "correcthorse"},
		{"a list of properties", "<key>APIToken</key>\n\t<string>~</string>", "correcthorse"},
		{"a Secret of Kubernetes", "data:\n  db-url: ~\nkind: Secret\n", "cG9zdGdyZXM6Ly9hcHA6aHVudGVyMkBkYi9hcHA="},
		{"the second argument", `os.Setenv("API_TOKEN", "~")`, "correcthorse"},
		{"the argument of a header", `req.Header.Set("Authorization", "Bearer ~")`, "correcthorse"},
		{"the argument of a setter", `builder.password("~")`, "correcthorse"},
		{"a field of a browser", "page.getByLabel('Password').fill('~')", "hunter2"},
		{"a field of a browser, by a tool", `{"element":"Password field","ref":"e1","text":"~"}`, "hunter2"},
		{"a pair", "requests.get(u, auth=('me', '~'))", "correcthorse"},
		{".netrc", "machine api.example.com\n  login me\n  password ~\n", "correcthorse"},
		{"SQL", "ALTER USER app WITH PASSWORD '~';", "correcthorse"},
		{"SQL of MySQL", "create user x identified by '~'", "correcthorse"},
		{"a command that sets it", "aws configure set aws_secret_access_key ~", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
		{"a definition", `#define WIFI_PASSWORD "~"`, "correcthorse"},
		{"a sentence", "the password is ~", "hunter2"},
		{"a sentence of a server", "A temporary password is generated for root@localhost: ~", "Xy9!kLmn_q"},
		{"what was typed, by a key with a path's sign", `{"element":"Password field","text":"~"}`, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
		{"a line of a server's settings", "port 6379\nrequirepass ~\n", "hunter2000"},
		{"a comparison with a random value", `if token == "~" {`, "q7Xc2PmZ81LwTr94VbNs"},
		{"an argument in capitals", `os.environ.get("DB_PASSWORD", "~")`, "correcthorse"},
		{"a query in a query", "?next=login%3Fpassword%3D~&x=1", "p%40ssw0rd"},
		// by a command
		{"a flag of curl, without a blank", "curl -uadmin:~ https://x", "hunter2"},
		{"a flag of curl, with a sign", "curl --user=admin:~ https://x", "hunter2"},
		{"a flag in quotes", "gpg --passphrase '~' -d f", "two words"},
		{"a flag with a key of AWS", "x --secret-access-key ~", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
		{"a flag of Java", "keytool -genkey -storepass ~ -v", "correcthorse"},
		{"letters alone without a blank", "mysql -uroot -p~ orders", "SECRET"},
		{"a cookie of curl", "curl -b '~' https://x", "session=abcdef"},
		{"a flag of another program", "redis-cli -h x -a ~ ping", "correcthorse"},
		{"what is piped", "echo ~ | docker login -u me --password-stdin", "correcthorse"},
		{"a source of OpenSSL", "openssl rsa -passin pass:~ -in f", "correcthorse"},
		{"what is piped, in quotes", "printf '%s' \"~\" | sudo -S ls", "correcthorse"},
		{"a here string", "sudo -S ls <<< '~'", "correcthorse"},
		{"a here document", "docker login -u me --password-stdin <<EOF\n~\nEOF", "correcthorse"},
		// by its prefix
		{"GitHub", "the token is ~.", github},
		{"GitHub, of a repository", "~", "github_pat_11ABCDEFG0abcdefghijkl_mnopqrst"},
		{"OpenAI", "key ~, used", openai},
		{"Slack", "`~`", slack},
		{"Stripe", "'~'", "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"},
		{"a webhook of Slack", "curl https://~", "hooks.slack.com/services/T024BE7LD/B01ABCDEF/q7Xc2PmZ81LwTr94VbNs"},
		{"a webhook of Teams", "https://x.webhook.office.com/~", "webhookb2/3f2504e0-4f89-11d3-9a0c-0305e82c3301@3f2504e0/IncomingWebhook/9f86d081884c7d659a2feaa0c55ad015"},
		{"Vault", "x ~ y", "hvs.CAESIq7Xc2PmZ81LwTr94VbNs"},
		{"a UUID", "key ~.", "HRKU-3f2504e0-4f89-11d3-9a0c-0305e82c3301"},
		{"Telegram", "https://api.telegram.org/bot123456789:~/getMe", "AAEq7Xc2PmZ81LwTr94VbNsabcdefghijkl"},
		{"Discord", "x ~ y", "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0123456789AB"},
		{"a line of .pgpass", "db.example.com:5432:app:me:~\n", "correcthorse"},
		{"a password that is encoded", "postgres://app:~@db/app", "%70%40ssw0rd"},
		{"the hash of a password", "root:$6$~:19000:0", "saltsalt$q7Xc2PmZ81LwTr94VbNsq7Xc2PmZ81LwTr94VbNs"},
		{"AWS", "id ~ of", "AKIAIOSFODNN7EXAMPLE"},
		{"Google", `"~"`, "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"},
		{"a JSON Web Token", "answered ~ then", web},
		// by its place
		{"the password of a URL", "postgres://app:~@db.example.internal:5432/app", "hunter2Correct9Horse"},
		{"a password with signs", "mysql://root:~@db/app", "pass/w?rd#1"},
		{"a signed URL", "https://b.example/k?X-Amz-Date=1&X-Amz-Signature=~&x=1", "9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015"},
		{"the user of a URL", "git clone https://~@github.com/a/b", "0123456789abcdef01234567"},
		{"a private key", "-----BEGIN RSA PRIVATE KEY-----~-----END RSA PRIVATE KEY-----\nbehind", "\nMIIEowIBAAKCAQEA\nq83vEjRWeJASNFY=\n"},
		{"a private key that was cut", "-----BEGIN OPENSSH PRIVATE KEY-----~", "\nb3BlbnNzaC1rZXktdjEAAAAA"},
	} {
		want := strings.ReplaceAll(tt.text, "~", "…")
		got := secret.Mask(strings.ReplaceAll(tt.text, "~", tt.credential))
		assert.Equal(t, want, got, tt.form)
		assert.Equal(t, want, secret.Mask(got), "again: %s", tt.form)
	}
}

// What looks like a credential and is none stays.
func TestMaskNot(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"max_tokens: 4096, used 128000 tokens", `{"max_tokens": 4096, "tokens":"12", "total_token": 77}`, "TOKEN_COUNT=4096",
		"token: 4096", "tokens = tokenize(text)", "MAX_TOKEN=4096",
		"password: ${DB_PASSWORD}", "PASSWORD=$(cat file)", "token: ${{ secrets.GITHUB_TOKEN }}", "-H \"Authorization: Bearer $TOKEN\"",
		"Authorization: Bearer <token>", "https://${USER}:${PASS}@host/", "PASSWORD=***", `{"password":""}`, "password=%s",
		`token := lexer.Next()`, "token = parser.next_token", "if token == nextToken {", "connect(password=password, user=u)",
		"secret = os.environ.get(\"SECRET\")", "f(token=token)",
		"SyntaxError: Unexpected token: punc", "invalid API key: 403", "wrong password: try again",
		`{"key":"createdAt"}`, "primary_key: user_id", "cache-key: 5bd477ba03467b195acb2e3b0c4af2152b08095d",
		`"keyboard": "q7Xc2PmZ81LwTr94VbNs"`, "monkey=banana1", "const key = `${user}:${id}`", "objectKey: uploads/2026/Report7Final.pdf",
		"publicKey: MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 me@host",
		"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n-----END PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"commit 195acb2e3b0c45bd477ba03467b0af2152b08095d", "secrets/api-key.txt", "DB_PASSWORD_FILE=/run/secrets/db",
		"docker build --secret id=npm,src=.npmrc .", "docker login registry-eu-west-1.example.com", "net user list",
		`{"data":{"kind":"value1"},"note":"a Secret is a kind"}`, "EAAbcdefghijklmnopqrstuvwxyzabcdef",
		"--token-file /run/token", "--key server.pem", "--max-tokens 4096", "docker run -u 1000:1000 x", "docker run -u 1000 -p 8080:80 x", "ssh -p 22 host", "find . -user me -print", "ps -u root -p 4711",
		"SORT_KEY=created_at_2", "CACHE_KEY=v1", "<token>abc</b>", "a -> token > 0", "if (password >x1", "cp -u a1 -preserve", "mkdir -p /tmp/a1",
		"see discord.com/api/webhooks/docs", "<passwords>12</passwords>", "--password -v",
		"git@github.com:a/b.git", "ssh://git@github.com/a/b", "https://unpkg.com/pkg@1.2.3/x.js", "http://localhost:3000/@id",
		"sk-loading-spinner-large2", "class=\"sk-cube-grid1\"", "npm_config_registry", "hf_hub_download", "desk-0123456789abcdef0", "bearer of news",
		"PWD=/home/app2 OLD_PWD=/tmp", "--- PASS: TestGradientCellsColor256Fallback", "persist-credentials: false", "Access-Control-Allow-Credentials: true",
		"password: null", "passphrase=None", `"passwordResetToken": null`, `"login.password": "Password"`, "pageToken=pageToken", "token = tokens[i+1]",
		"fetch(u, {credentials: 'same-origin'})", "Authorization: required for all", `"Authorization": "Bearer " + token`,
		"arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf", "passwd:12:root:x:0:0:root", "https://x.com/a:b@c",
		"fields = ['email', 'password', 'name1']", "t('login.password', 'Password')", `{"name": "token", "type": "string"}`,
		"{type: 'Token', value: 'abc1'}", "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: x", "metadata:\n  name: database\nkind: Secret\n",
		"Unexpected token 'abc123def'", "password must contain 1 digit", "password authentication failed for user \"app1\"",
		"gh secret set API_TOKEN < f1.txt", "2. add a `--token` flag1 to it", "Failed password for root from 10.0.0.1 port 22", "('pass', 'fail')", "interface { token: string }", "kubectl get secret db-creds1 -o yaml", "vault token lookup", "sed -i 's/password/pass1/' f1",
		"mysql -u root -p orders1", "curl -b cookies.txt https://x", "echo done | tee log", "expect \"password:\"; send",
		`{"key":"UserProfileSettings2"}`, "re_match_named_groups_2", "secret_manager_version_2", "pi_3MtwBwLkdIwHu7ix28a3tqPa", "toolu_01A09q90qw90lq917835lq9",
		"<label for=\"password\">Password1</label>", "{\"tests\": 12, \"pass\": 11}", "pwd: '/home/app'", "mnemonic: \"ADDS\"", "https://api.github.com/repos/a/b/webhooks/12345678",
		"secretName: db-credentials", "tokenType: bearer", "passwordField.value = 1", "password:", "token:\n  next: 1",
	} {
		assert.Equal(t, text, secret.Mask(text))
	}
}

// Where nearly all looks like a credential, the rest is left out: no text takes long, and none goes through unread.
func TestMaskLeavesOutTheRest(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{"sk-aa-", "token=", `password("`, "-p ", "https://a:", "<<EOF passwd "} {
		got := secret.Mask(strings.Repeat(hostile, 1<<20/len(hostile)) + "\nTOKEN=" + word)
		assert.True(t, strings.HasSuffix(got, "…"), hostile)
		assert.NotContains(t, got, word, hostile)
	}
}

// The text of a large result is read in a few milliseconds.
func BenchmarkMask(b *testing.B) {
	text := strings.Repeat("func (t *Token) key(name string) error { x := t.names[name]; return fmt.Errorf(\"%s: %w\", name, x) } // path/to/file.go:12\n", 400_000/120)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		secret.Mask(text)
	}
}

// Nothing is read past the ends of a text, and masking again changes nothing.
func FuzzMask(f *testing.F) {
	for _, s := range []string{"TOKEN=" + github, `{"password":"\"`, "https://a:b@c", "--password '", pem, "Authorization: Bearer " + slack, "key=" + aws + openai} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := secret.Mask(s)
		if twice := secret.Mask(once); twice != once {
			t.Fatalf("%q becomes %q, and %q", s, once, twice)
		}
	})
}
