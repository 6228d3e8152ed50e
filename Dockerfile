# The program with all extras that a server or a worker may be set to, `retrieval` apart, which is
# large; compose.yaml starts both.
FROM python:3.11-slim-bookworm AS built
WORKDIR /source
COPY requirements/build.txt requirements/image.txt requirements/
RUN python -m venv /program \
 && /program/bin/python -m pip install --no-cache-dir --no-deps --require-hashes -r requirements/build.txt -r requirements/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /program/bin/python -m pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin program \
 && install -d -m 0700 -o 10001 -g 10001 /state
COPY --from=built /program /program
ENV PATH=/program/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DATA_STATE_DIR=/state
# In numbers: Kubernetes looks at them to know that it is not root.
USER 10001:10001
WORKDIR /state
VOLUME /state
EXPOSE 8000
# For `serve`, without a shell; a worker is looked after by its health file, as in compose.yaml.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s \
  CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ.get('API_PORT', '8000') + '/healthz', timeout=5)"]
ENTRYPOINT ["ai-psychiatrist"]
CMD ["serve", "--host", "0.0.0.0"]
