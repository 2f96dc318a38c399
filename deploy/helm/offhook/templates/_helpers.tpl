{{- define "offhook.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "offhook.labels" -}}
app.kubernetes.io/name: offhook
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "offhook.selector" -}}
app.kubernetes.io/name: offhook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "offhook.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What every container of Offhook has; the list (. "env") comes last. */}}
{{- define "offhook.container" -}}
image: {{ include "offhook.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  - secretRef: {name: {{ .Values.existingSecret | quote }}}
volumeMounts:
  - {name: data, mountPath: /var/lib/offhook}
  - {name: tmp, mountPath: /tmp}
{{- with .Values.extraVolumeMounts }}
{{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "offhook.env" -}}
- {name: OFFHOOK_PUBLIC_URL, value: {{ .Values.publicUrl | quote }}}
- {name: OFFHOOK_SERVER_URL, value: "http://{{ include "offhook.name" . }}:{{ .Values.service.port }}"}
- {name: OFFHOOK_DRAIN_S, value: {{ .Values.serve.drainSeconds | quote }}}
- {name: OFFHOOK_MAX_CALLS_PER_PROCESS, value: {{ .Values.serve.maxCalls | quote }}}
{{- with .Values.storageUrl }}
- {name: OFFHOOK_STORAGE_URL, value: {{ . | quote }}}
{{- end }}
{{- with .Values.trustedProxies }}
- {name: OFFHOOK_TRUSTED_PROXIES, value: {{ . | quote }}}
{{- end }}
{{- with .Values.metrics.tokenSecret }}
- name: OFFHOOK_METRICS_TOKEN
  valueFrom: {secretKeyRef: {name: {{ . | quote }}, key: OFFHOOK_METRICS_TOKEN}}
{{- end }}
{{- range $name, $value := .Values.settings }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "offhook.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
  - {name: data, emptyDir: {}}
  - {name: tmp, emptyDir: {}}
{{- with .Values.extraVolumes }}
{{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
