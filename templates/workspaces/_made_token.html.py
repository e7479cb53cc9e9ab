BBBB BBBB
BB BBBB
  XXXX XXXXXXXXXXX XXXX XXXXXXXXX
    XXX
      XXXXXXXX
        BB BBBBBBBBBBBBBBBBB
           gettext(u'Token “%(n)s” has been rotated.') SSSSS SSSSSSS SSS SSSS SSSSSSSS
        BBBB
           gettext(u'Token “%(n)s” has been created.') SSSSS SSSSSSS SSS SSSS SSSSSSSS
        BBBBB
      XXXXXXXXX  gettext(u'Copy it now. It is shown only once.') 
    XXXX
    XXXXXXX XXXXXXX XX
    XXXX XXXXXXXXXXXX XXXXXXXXX
      BB BBBBBBB BB BBBBBBBBBBBBB
        XXX gettext(u'In CI, store it as the secret variable MUSTER_TOKEN; the command line and the SDK read it:') XXXX
        XXXXXXX XXXXXXX XX
        XXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXX XXX XXXXX XX
        BB BBB BBBBBBB
          XX XXXXXXXXXXXXXX
             gettext(u'For CI, a service account is better: its token keeps working when you leave, and its jobs are not yours.') 
            XX XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Service accounts') XXXX
          XXXX
        BBBBB
      BBBB
        XXX gettext(u'For the command line:') XXXX
        XXXXXXX XXXXXXX XX
        XXXXXXX XXXXXXXXXXXX XXXXX X XX
      BBBBB
    XXXXXX
  XXXXXX
BBBBB
