BBBB BBBB BBBBBB
 #

BB BBBBBBBBBBBBBBBBBBB BBB BBB BBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXX XXXX XXX XXXXXXXXX
    XXXXXX
      XXXXXXXX gettext(u'This job is idle.') XXXXXXXXX
      BB BBBBBBBBBBBBBBBBB BBB BBBBBBBBBBBBBBBB BB BBBBBB
         gettext(u'The rule of its pool stops it in %(t)s, unless you keep it.') 
          SSS SSSS SS SSS SSSS SSSSS SS SS SSSSSS SSSSSS SSS SSSS SSS
        
      BBBB BBBBBBBBBBBBBBBBB
         gettext(u'The rule of its pool lowers its priority in %(t)s, unless you keep it.') 
          SSS SSSS SS SSS SSSS SSSSSS SSS SSSSSSSS SS SSSSSS SSSSSS SSS SSSS SSS
        
      BBBB
         gettext(u'Cancel it if you no longer need it.') 
      BBBBB
    XXXXXXX
    BB BBBBBBBBBB
      XXXXX XXXXXXXXXX XXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXXXXX XXXXXXXXXXXX
                XXXXXXXXXXXXXX
                XXXXXXXXXXXX gettext(u'Keep running for') XX
          XXXXXXX XXXXXXXXXXX XXXXXXXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXXX
          XXXXXXX XXXXXXXXXXXXX XXXXXXXXXX
        XXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXX XXXXXXXXX pgettext(u'button', u'Keep running') XXXXXXXXX
      XXXXXXX
    BBBBB
  XXXXXX
BBBB BBBBBBBBBBBBBBBBBBBB BBB BBBBBBBBBBBBBBBBBBBB B BBB
  XX XXXXXXXXXXXX XXXXXXX
     gettext(u'%(who)s keeps this job, also if it is idle, for another %(t)s.') 
      SSSSSSS SSSSS SSSS SSSS SSSS SS SS SS SSSSS SSS SSSSSSS SSSSSS
    
  XXXX
BBBB BBBBBBBB
  XX XXXXXXXXXXXX XXXXXXX
     gettext(u'Its GPUs are idle, but its ports are in use: last request %(t)s.') 
      SSS SSSS SSS SSSSS SSS SSS SSSSS SSS SS SSSS SSSS SSSSSSS SSSSSS
    
  XXXX
BBBBB
