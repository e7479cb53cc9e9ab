BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   gettext(u'Grafana, Harbor, JupyterHub and others sign people in with Muster (OpenID Connect), and get their organizations and teams as groups.') 
    SSSSSSSS SSSSSSS SSSSSSSSSS SSS SSSSSS SSSS SSSSSS SS SSSS SSSSSS SSSSSSS SSSSSSSSS SSS SSS
    SSSSS SSSSSSSSSSSSS SSS SSSSS SS SSSSSSS
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'Applications') X
          XXXXXXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'New application') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX
        XXXX pgettext(u'heading', u'Connection details') XXXXX
      XXXXXXXXX
      XXXX XXXXXXXXXXX XXXXXXXXX
        XXX XXXXXXXXXXXXXX
          XXXX pgettext(u'name of a value', u'Issuer') XXXXX
          XXXX
            XXXXXXX XXXXXXXXXXXXXX XX
          XXXXX
          XXXX pgettext(u'name of a value, OpenID Connect', u'Discovery') XXXXX
          XXXX
            XX XXXXXXXXXXX XXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
          XXXXX
          XXXX pgettext(u'name of a value', u'Scopes') XXXXX
          XXXX
            XXXXXXXXXXXX XXXXXXX XXXXX XXXXXXXXXXXXX
          XXXXX
          XXXX pgettext(u'name of a value', u'Groups') XXXXX
          XXXX
             gettext(u'Organizations and teams, such as <code>atlas</code> and <code>atlas/vision</code>') 
          XXXXX
        XXXXX
      XXXXXX
    XXXXXX
    XXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXX XX
    XXXXXXXX XXXXXXXXXXXXX
      XXXXXXXX XXXXXXX gettext(u'No applications yet') XX
         gettext(u'Register one, then give it the issuer above, its client ID and the secret.') 
          SSSSSSSS SSSS SSSS SSSS SS SSS SSSSSS SSSSSS SSS SSSSSS SS SSS SSS SSSSSSS
        
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBBBBBB
            XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
                      XXXXXXX pgettext(u'field', u'New application') X XX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXX
  XXXXXX
  BB BBBBBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'New application') X
                   XXXXXXXX pgettext(u'button', u'Add application') XX
      XXXX XXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Client ID') XXXXXXX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
        XXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Name') XXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX
        XXXXXXXX
      XXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX gettext(u'Redirect URIs (one per line, exact)') XXXXXXX
        XXXXXXXXX XXXXXXXXXXXXXXXX
                  XXXXXXXX
                  XXXXXXXX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
        XXXXXX gettext(u"The application doesn't support PKCE") XXXXXXX
      XXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
